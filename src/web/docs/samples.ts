import type { OpenApi, Route } from "./document.ts";
import type { Sample } from "./markup.ts";

/** The service's address in every example. The pages' script replaces it with the address of the server. */
export const PLACEHOLDER = "https://parley.example";

/** The environment variable with the secret for a document's routes. The `parley` command reads it too. */
export function secretOf(document: OpenApi): string {
  return document.servers[0]?.url.startsWith("/admin") ? "PARLEY_ADMIN_TOKEN" : "PARLEY_API_KEY";
}

/** A request to a route with example values, in curl and in TypeScript. */
export function samplesOf(route: Route, secret: string): Sample[] {
  return [
    { label: "curl", language: "shellscript", code: curlOf(route, secret) },
    { label: "TypeScript", language: "typescript", code: fetchOf(route, secret) },
  ];
}

/** A curl command that calls a route. */
export function curlOf(route: Route, secret: string): string {
  const { method, operation } = route;
  const body = bodyOf(route);
  const isFile = isFileBody(route);
  const isPlain = method === "GET" || (method === "POST" && (isFile || body !== undefined));
  return [
    `curl ${isPlain ? "" : `-X ${method} `}"${addressOf(route)}"`,
    ...(operation.security ? [] : [`  -H "Authorization: Bearer $${secret}"`]),
    ...(body === undefined ? [] : [`  -d '${bodyText(body).replaceAll("'", `'\\''`)}'`]),
    ...(isFile ? [`  -H "Content-Type: application/pdf"`, "  --data-binary @invoice.pdf"] : []),
  ].join(" \\\n");
}

/** A body as JSON: on one line if the line stays short. */
function bodyText(body: unknown): string {
  const line = JSON.stringify(body);
  return line.length <= 60 ? line : JSON.stringify(body, null, 2).replaceAll("\n", "\n  ");
}

function fetchOf(route: Route, secret: string): string {
  const { method, operation } = route;
  const body = bodyOf(route);
  const options = [
    ...(method === "GET" ? [] : [`  method: "${method}",`]),
    ...(operation.security ? [] : [`  headers: { Authorization: \`Bearer \${process.env.${secret}}\` },`]),
    ...(isFileBody(route) ? [`  body: new Blob([await readFile("invoice.pdf")], { type: "application/pdf" }),`] : []),
    ...(body === undefined ? [] : [`  body: JSON.stringify(${literal(body)}),`]),
  ];
  const call =
    options.length > 0 ? `fetch("${addressOf(route)}", {\n${options.join("\n")}\n})` : `fetch("${addressOf(route)}")`;
  return `const response = await ${call};\n${readingOf(route)}`;
}

/** The line that reads the response: its fields, its text or its bytes. */
function readingOf({ operation }: Route): string {
  const [, good = {}] = Object.entries(operation.responses).find(([status]) => Number(status) < 300) ?? [];
  const { content = {} } = good as { content?: Record<string, { schema?: { properties?: object } }> };
  const names = Object.keys(content["application/json"]?.schema?.properties ?? {});
  if (names.length > 0) return `const { ${names.join(", ")} } = await response.json();`;
  if ("application/json" in content) return "const result = await response.json();";
  return "text/html; charset=utf-8" in content
    ? "const page = await response.text();"
    : "const bytes = await response.bytes();";
}

function addressOf({ path, operation }: Route): string {
  const filled = operation.parameters.reduce(
    (whole, { in: kind, name, example = name }) => (kind === "path" ? whole.replace(`{${name}}`, example) : whole),
    path,
  );
  // Only required query parameters.
  const query = operation.parameters
    .filter(({ in: kind, required, example }) => kind === "query" && required && example)
    .map(({ name, example = "" }) => `${name}=${encodeURIComponent(example)}`);
  return PLACEHOLDER + filled + (query.length > 0 ? `?${query.join("&")}` : "");
}

/** Whether the body is a file, as it is. */
function isFileBody({ operation }: Route): boolean {
  return operation.requestBody?.content["*/*"] !== undefined;
}

function bodyOf({ operation }: Route): unknown {
  const { example, examples = {} } = operation.requestBody?.content["application/json"] ?? {};
  return example ?? Object.values(examples)[0]?.value;
}

/** A value as TypeScript spells it, indented for the options of a call. */
function literal(value: unknown): string {
  return JSON.stringify(value, null, 2)
    .replace(/^(\s*)"([A-Za-z_]\w*)":/gm, "$1$2:")
    .replace(/([\]}"\w])\n/g, "$1,\n")
    .replaceAll("\n", "\n  ");
}
