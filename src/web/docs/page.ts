import { escapeHtml } from "../../escape-html.ts";
import { curlOf, type Variables, variablesOf } from "./curl.ts";
import { nameOf, type OpenApi, type Operation, type Response, type Route, resolved, routesOf } from "./document.ts";
import { answerSchemas, field, fields, kindOf } from "./fields.ts";
import { code, inline, json, prose } from "./markup.ts";

/** Another page of the reference, or its raw document. */
interface Link {
  href: string;
  text: string;
}

/**
 * The reference of one document: a page without inline script or style, which reads well without its script too.
 * `others` are linked at its top.
 */
export function docsPage(document: OpenApi, others: readonly Link[]): string {
  const { info, tags } = document;
  const variables = variablesOf(document);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${escapeHtml(info.summary)}">
<title>${escapeHtml(info.title)} ${escapeHtml(info.version)}: reference</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/web-assets/docs.css">
<script src="/web-assets/docs.js" defer></script>
</head>
<body>
<a class="skip" href="#reference">Skip to the reference</a>
<header>
<h1>${escapeHtml(info.title)} <small>${escapeHtml(info.version)}</small></h1>
<p>${others.map(({ href, text }) => `<a href="${escapeHtml(href)}">${escapeHtml(text)}</a>`).join(" · ")}</p>
</header>
<nav aria-label="Routes">
${tags.map(({ name }) => navigation(name, routesOf(document, name))).join("\n")}
<h2><a href="#schemas">Objects</a></h2>
<h2><a href="#errors">Errors</a></h2>
</nav>
<main id="reference">
<section aria-label="Conventions">
${prose(info.description)}
<p>The lines below read two variables:</p>
${code(setting(variables), "the variables")}
</section>
${tags.map((tag) => section(document, tag, variables)).join("\n")}
<section aria-labelledby="schemas">
<h2 id="schemas">Objects</h2>
${answerSchemas(document)
  .map(
    ([name, schema]) =>
      `<h3 id="schema-${name}">${name}</h3>\n<p>${inline(schema.description ?? "")}</p>\n${fields(schema, true)}`,
  )
  .join("\n")}
</section>
<section aria-labelledby="errors">
<h2 id="errors">Errors</h2>
<dl class="fields">
${errors(document)}
</dl>
</section>
</main>
</body>
</html>
`;
}

function setting({ url, secret }: Variables): string {
  return `export ${url}=http://localhost:8787\nexport ${secret}=…`;
}

function navigation(tag: string, routes: Route[]): string {
  const lines = routes.map(
    ({ operation }) => `<li><a href="#${operation.operationId}">${escapeHtml(operation.summary)}</a></li>`,
  );
  return `<h2><a href="#${anchor(tag)}">${escapeHtml(tag)}</a></h2>\n<ul>${lines.join("")}</ul>`;
}

function section(document: OpenApi, { name, description }: OpenApi["tags"][number], variables: Variables): string {
  return `<section aria-labelledby="${anchor(name)}">
<h2 id="${anchor(name)}">${escapeHtml(name)}</h2>
<p>${inline(description)}</p>
${routesOf(document, name)
  .map((route) => article(document, route, variables))
  .join("\n")}
</section>`;
}

function article(document: OpenApi, route: Route, variables: Variables): string {
  const { method, path, operation } = route;
  const { operationId, summary, description } = operation;
  return `<article aria-labelledby="${operationId}">
<h3 id="${operationId}">${escapeHtml(summary)} <a class="anchor" href="#${operationId}" aria-label="Link to ${escapeHtml(summary)}">#</a></h3>
<p class="route"><strong class="method ${method.toLowerCase()}">${method}</strong> <code>${escapeHtml(path).replaceAll("/", "/<wbr>")}</code></p>
${prose(description)}
${code(curlOf(route, variables), `the line for ${summary}`)}
${parameters(operation)}
${body(document, operation)}
${answers(document, operation)}
</article>`;
}

function parameters({ parameters }: Operation): string {
  const lines = parameters.map(({ name, in: where, schema, required = false, description }) =>
    field(name, schema, required, { description, where }),
  );
  return lines.length === 0 ? "" : `<h4>Parameters</h4>\n<dl class="fields">${lines.join("\n")}</dl>`;
}

function body(document: OpenApi, { requestBody }: Operation): string {
  if (!requestBody) return "";
  const { schema = {} } = requestBody.content["application/json"];
  const whole = document.components.schemas[nameOf(schema.$ref ?? "")] ?? schema;
  return `<h4>Body</h4>\n<p>${inline(requestBody.description)}</p>\n${fields(whole, false)}`;
}

function answers(document: OpenApi, { responses }: Operation): string {
  const all = Object.entries(responses).map(([status, response]) => {
    return { status, response: resolved<Response>(response, document.components.responses) };
  });
  const good = all.filter(({ status }) => Number(status) < 400);
  const errors = all.filter(({ status }) => Number(status) >= 400);
  return `<h4>Answers</h4>
${good.map(({ status, response }) => answer(status, response)).join("\n")}
<p>Errors:</p>
<ul>${errors.map(({ status, response }) => `<li><strong class="status">${status}</strong> ${codes(response)}</li>`).join("")}</ul>`;
}

function codes({ content = {} }: Response): string {
  const links = Object.keys(content["application/json"]?.examples ?? {});
  return links.map((name) => `<a href="#error-${name}"><code>${name}</code></a>`).join(", ");
}

function answer(status: string, { description, headers = {}, content = {} }: Response): string {
  const [[type, media] = []] = Object.entries(content);
  const schema = media?.schema;
  const names = Object.keys(headers).map((name) => `<code>${escapeHtml(name)}</code>`);
  const shape = schema?.properties
    ? `<p>${Object.entries(schema.properties)
        .map(([name, each]) => `<code>${name}</code>: ${kindOf(each)}`)
        .join("; ")}</p>`
    : schema
      ? `<p>${kindOf(schema)}</p>`
      : "";
  return `<p><strong class="status">${status}</strong> ${inline(description)}${type && !schema ? ` <code>${escapeHtml(type)}</code>` : ""}</p>
<p class="quiet">With ${names.join(", ")}.</p>
${shape}
${media?.example === undefined ? "" : `<details><summary>An answer</summary>${json(media.example)}</details>`}`;
}

/** Every error that an operation of the document answers, once, by its status. */
function errors(document: OpenApi): string {
  const all = document.tags
    .flatMap(({ name }) => routesOf(document, name))
    .flatMap(({ operation }) => Object.entries(operation.responses))
    .flatMap(([status, response]) => {
      const { content = {} } = resolved<Response>(response, document.components.responses);
      const { examples = {} } = content["application/json"] ?? {};
      return Object.entries(examples).map(([name, { summary, value }]) => ({ status, name, summary, value }));
    });
  const once = [...new Map(all.map((each) => [each.name, each])).values()];
  return once
    .toSorted((one, other) => Number(one.status) - Number(other.status))
    .map(
      ({ status, name, summary, value }) =>
        `<dt id="error-${name}"><strong class="status">${status}</strong> <code>${name}</code></dt>\n<dd>${inline(summary)}${json(value)}</dd>`,
    )
    .join("\n");
}

function anchor(tag: string): string {
  return `tag-${tag.toLowerCase().replaceAll(" ", "-")}`;
}
