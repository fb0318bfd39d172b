import { escapeHtml } from "../../platform/html.ts";
import { nameOf, type OpenApi, type Operation, type Response, type Route, resolved } from "./document.ts";
import { fieldItem, fieldList } from "./fields.ts";
import type { Highlighter } from "./highlight.ts";
import { codeBlock, codeTabs, inline, methodBadge, prose, statusBadge } from "./markup.ts";
import { samplesOf, secretOf } from "./samples.ts";

/** The inputs of a reference page. */
export interface Source {
  document: OpenApi;
  highlighter: Highlighter;
  /** The page with this document's errors. */
  errorsHref: string;
}

/** One route: its description, parameters and responses, with an example beside them. */
export function operationArticle(route: Route, source: Source): string {
  const { method, path, operation } = route;
  const { operationId, summary, description } = operation;
  return `<article class="operation" aria-labelledby="${operationId}">
<div class="text">
<h2 id="${operationId}"><a class="anchor" href="#${operationId}">${escapeHtml(summary)}</a></h2>
<p class="route">${methodBadge(method)} <code>${escapeHtml(path).replaceAll("/", "/<wbr>")}</code></p>
${prose(description)}
${parametersOf(operation, source)}
${bodyOf(operation, source)}
${responsesMarkup(operation, source)}
</div>
<div class="sample">
<h3>Request</h3>
${codeTabs(samplesOf(route, secretOf(source.document)), source.highlighter)}
${moreBodies(operation, source)}
${exampleOf(operation, source)}
</div>
</article>`;
}

function parametersOf({ parameters }: Operation, { document }: Source): string {
  const context = { schemas: document.components.schemas, isResponse: false };
  const lines = parameters.map(({ name, in: where, schema, required = false, description }) =>
    fieldItem(name, schema, required, context, { description, where }),
  );
  return lines.length === 0 ? "" : `<h3>Parameters</h3>\n<dl class="fields">${lines.join("\n")}</dl>`;
}

function bodyOf({ requestBody }: Operation, { document }: Source): string {
  if (!requestBody) return "";
  const { schemas } = document.components;
  const { schema = {} } = requestBody.content["application/json"] ?? {};
  const whole = schemas[nameOf(schema.$ref ?? "")] ?? schema;
  return `<h3>Request body</h3>\n<p>${inline(requestBody.description)}</p>\n${fieldList(whole, { schemas, isResponse: false })}`;
}

/** The example bodies after the first one, which unfold. */
function moreBodies({ requestBody }: Operation, { highlighter }: Source): string {
  const [, ...more] = Object.values(requestBody?.content["application/json"]?.examples ?? {});
  const blocks = more.map(({ summary, value }) => {
    const sample = { code: JSON.stringify(value, null, 2), language: "json", label: summary };
    return `<details><summary>${escapeHtml(summary)}</summary>${codeBlock(sample, highlighter)}</details>`;
  });
  return blocks.join("\n");
}

/** The responses of an operation, each with its status. */
export function responsesOf(document: OpenApi, { responses }: Operation): { status: string; response: Response }[] {
  return Object.entries(responses).map(([status, response]) => {
    return { status, response: resolved<Response>(response, document.components.responses) };
  });
}

function responsesMarkup(operation: Operation, { document, errorsHref }: Source): string {
  const all = responsesOf(document, operation);
  const isError = ({ status }: { status: string }) => Number(status) >= 400;
  const errors = all
    .filter(isError)
    .flatMap(({ status, response }) =>
      Object.entries(response.content?.["application/json"]?.examples ?? {}).map(
        ([code, { summary }]) =>
          `<li>${statusBadge(status)} <a href="${errorsHref}#${code}"><code>${code}</code></a> <span>${inline(summary)}</span></li>`,
      ),
    );
  return `<h3>Responses</h3>
${all
  .filter((each) => !isError(each))
  .map(({ status, response }) => success(status, response, document))
  .join("\n")}
${errors.length > 0 ? `<details class="errors"><summary>Errors (${errors.length})</summary><ul>${errors.join("\n")}</ul></details>` : ""}`;
}

function success(status: string, { description, headers = {}, content = {} }: Response, document: OpenApi): string {
  const [[type, media] = []] = Object.entries(content);
  const schema = media?.schema;
  const { schemas } = document.components;
  const named = schema?.$ref ? schemas[nameOf(schema.$ref)] : schema;
  const names = Object.keys(headers).map((name) => `<li><code>${escapeHtml(name)}</code></li>`);
  const note = type && !named ? ` <code>${escapeHtml(type)}</code>` : "";
  const listed = names.length > 0 ? `<details><summary>Headers</summary><ul>${names.join("")}</ul></details>` : "";
  return `<p>${statusBadge(status)} ${inline(description)}${note}</p>
${named ? fieldList(named, { schemas, isResponse: true }) : ""}${listed}`;
}

/** The example of a successful response. */
function exampleOf(operation: Operation, { document, highlighter }: Source): string {
  for (const { status, response } of responsesOf(document, operation)) {
    const example = response.content?.["application/json"]?.example;
    if (example === undefined) continue;
    const sample = { code: JSON.stringify(example, null, 2), language: "json", label: "the response" };
    return `<h3>Response ${statusBadge(status)}</h3>\n${codeBlock(sample, highlighter)}`;
  }
  return "";
}
