import { curlOf, type Variables, variablesOf } from "./curl.ts";
import { nameOf, type OpenApi, type Response, type Route, resolved, routesOf, type Schema } from "./document.ts";

/**
 * The same documents in plain Markdown, for programs that read: what each route does, takes and answers, with a line for
 * a shell.
 * @see https://llmstxt.org
 */
export function llmsText(documents: readonly { document: OpenApi; href: string }[]): string {
  const parts = documents.map(({ document, href }, at) => part(document, href, at === 0 ? "#" : "##"));
  return `${parts.join("\n\n")}\n`;
}

function part(document: OpenApi, href: string, level: string): string {
  const { info, tags } = document;
  const variables = variablesOf(document);
  const sections = tags.flatMap(({ name }) => [
    `## ${info.title}: ${name}`,
    ...routesOf(document, name).map((route) => told(document, route, variables)),
  ]);
  const head = [`${level} ${info.title}`, `> ${info.summary} The whole document: ${href}`, info.description];
  return [...head, `The lines below read \`${variables.url}\` and \`${variables.secret}\`.`, ...sections].join("\n\n");
}

function told(document: OpenApi, route: Route, variables: Variables): string {
  const { method, path, operation } = route;
  const { parameters, requestBody } = operation;
  const schema = document.components.schemas[nameOf(requestBody?.content["application/json"].schema?.$ref ?? "")];
  const lines = [
    ...parameters.map(({ name, in: where, description }) => `- \`${name}\` (${where}): ${description}`),
    ...bodyLines(schema),
  ];
  const answers = Object.entries(operation.responses).map(([status, response]) => {
    const { content = {}, description } = resolved<Response>(response, document.components.responses);
    const { examples } = content["application/json"] ?? {};
    return examples ? `${status} (${Object.keys(examples).join(", ")})` : `${status}: ${description}`;
  });
  return [
    `### ${operation.summary}: ${method} ${path}`,
    operation.description,
    `\`\`\`sh\n${curlOf(route, variables)}\n\`\`\``,
    ...(lines.length > 0 ? [lines.join("\n")] : []),
    `Answers: ${answers.join("; ")}`,
  ].join("\n\n");
}

/** A line a field, those of objects within by their dotted names. */
function bodyLines({ properties = {}, required = [] }: Schema = {}, within = ""): string[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const must = required.includes(name) ? ", required" : "";
    const line = `- \`${within}${name}\` (body${must}): ${schema.description}`;
    return [line, ...bodyLines(schema, `${within}${name}.`)];
  });
}
