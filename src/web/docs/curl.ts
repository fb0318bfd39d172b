import type { OpenApi, Route } from "./document.ts";

/** The variables of a shell that the lines read: where the service is, and what opens it. */
export interface Variables {
  url: string;
  secret: string;
}

/** A line for a shell that calls a route, with the example of its body. */
export function curlOf({ method, path, operation }: Route, { url, secret }: Variables): string {
  const place = operation.parameters.reduce(
    (whole, { in: kind, name, example = name }) => (kind === "path" ? whole.replace(`{${name}}`, example) : whole),
    path,
  );
  const body = operation.requestBody?.content["application/json"].example;
  const isPlain = method === "GET" || (method === "POST" && body !== undefined);
  return [
    `curl ${isPlain ? "" : `-X ${method} `}"$${url}${place}"`,
    ...(operation.security ? [] : [`  -H "Authorization: Bearer $${secret}"`]),
    ...(body === undefined ? [] : [`  -d '${JSON.stringify(body).replaceAll("'", `'\\''`)}'`]),
  ].join(" \\\n");
}

/** The variables for a document's lines: those that `parley` on the command line reads too. */
export function variablesOf(document: OpenApi): Variables {
  const isOperators = document.servers[0]?.url.startsWith("/admin") ?? false;
  return { url: "PARLEY_URL", secret: isOperators ? "PARLEY_ADMIN_TOKEN" : "PARLEY_API_KEY" };
}
