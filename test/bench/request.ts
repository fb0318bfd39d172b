/** The bytes of a GET with an API key. */
export function get(path: string, secret: string, headers: Record<string, string> = {}): string {
  return request("GET", path, { ...authorized(secret), ...headers });
}

/** The bytes of a POST of some JSON text, which must be ASCII. */
export function post(path: string, body: string, headers: Record<string, string> = {}): string {
  return request("POST", path, { ...headers, "Content-Length": String(body.length) }, body);
}

export function authorized(secret: string): Record<string, string> {
  return { Authorization: `Bearer ${secret}` };
}

function request(method: string, path: string, headers: Record<string, string>, body = ""): string {
  const all = { Host: "parley.test", "CF-Connecting-IP": "203.0.113.7", ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n${body}`;
}
