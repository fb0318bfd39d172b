import { nameOf, type OpenApi, type Response, type Route, resolved, routesOf, type Schema } from "./document.ts";
import { curlOf, secretOf } from "./samples.ts";

interface GuideGroup {
  title: string;
  pages: readonly { file: string; title: string; about: string }[];
}

/**
 * The documentation in plain Markdown, for language models: a list of the guides, then the description, parameters and
 * responses of each route.
 * @see https://llmstxt.org
 */
export function llmsText(
  guides: readonly GuideGroup[],
  references: readonly { document: OpenApi; json: string }[],
): string {
  const lists = guides.map(({ title, pages }) => {
    const lines = pages.map(({ file, title, about }) => `- [${title}](/docs/${file}): ${about}`);
    return `## Guides: ${title}\n\n${lines.join("\n")}`;
  });
  const [first, ...others] = references.map(({ document, json }, at) => part(document, json, at === 0 ? "#" : "##"));
  const [head = "", ...routes] = first ?? [];
  return `${[head, ...lists, ...routes, ...others.flat()].join("\n\n")}\n`;
}

/** The introduction of a document, then its routes. */
function part(document: OpenApi, json: string, level: string): string[] {
  const { info, tags } = document;
  const secret = secretOf(document);
  const sections = tags.flatMap(({ name }) => [
    `## ${info.title}: ${name}`,
    ...routesOf(document, name).map((route) => routeText(document, route, secret)),
  ]);
  const head = [
    `${level} ${info.title}`,
    `> ${info.summary} The OpenAPI document: ${json}`,
    info.description,
    `In the examples, replace https://parley.example with the address of this server. They read the secret from \`${secret}\`.`,
  ];
  return [head.join("\n\n"), ...sections];
}

function routeText(document: OpenApi, route: Route, secret: string): string {
  const { method, path, operation } = route;
  const { parameters, requestBody } = operation;
  const schema = document.components.schemas[nameOf(requestBody?.content["application/json"]?.schema?.$ref ?? "")];
  const lines = [
    ...parameters.map(({ name, in: where, description }) => `- \`${name}\` (${where}): ${description}`),
    ...bodyLines(schema),
  ];
  const responses = Object.entries(operation.responses).map(([status, response]) => {
    const { content = {}, description } = resolved<Response>(response, document.components.responses);
    const { examples } = content["application/json"] ?? {};
    return examples ? `${status} (${Object.keys(examples).join(", ")})` : `${status}: ${description}`;
  });
  return [
    `### ${operation.summary}: ${method} ${path}`,
    operation.description,
    `\`\`\`sh\n${curlOf(route, secret)}\n\`\`\``,
    ...(lines.length > 0 ? [lines.join("\n")] : []),
    `Responses: ${responses.join("; ")}`,
  ].join("\n\n");
}

/** One line for each field. Nested fields have dotted names, those of a list's items with `[]`. */
function bodyLines({ properties = {}, required = [] }: Schema = {}, within = ""): string[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const must = required.includes(name) ? ", required" : "";
    const line = `- \`${within}${name}\` (body${must}): ${schema.description}`;
    const { items = {} } = schema;
    const ofItems = [items, ...(items.oneOf ?? [])].flatMap((each) => bodyLines(each, `${within}${name}[].`));
    return [line, ...bodyLines(schema, `${within}${name}.`), ...new Set(ofItems)];
  });
}
