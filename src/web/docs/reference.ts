import { escapeHtml } from "../../platform/html.ts";
import { type OpenApi, routesOf } from "./document.ts";
import type { Section } from "./guide.ts";
import type { Highlighter } from "./highlight.ts";
import type { Group, Link, Page } from "./layout.ts";
import { codeBlock, inline, methodBadge, prose, slugOf, statusBadge } from "./markup.ts";
import { operationArticle, responsesOf, type Source } from "./operation.ts";
import { PLACEHOLDER, secretOf } from "./samples.ts";

/** A document and the addresses of its pages. */
export interface Reference {
  title: string;
  document: OpenApi;
  /** The address of its first page: `/docs/reference`. */
  base: string;
  /** The address of the document itself. */
  json: string;
}

/** The pages of a document: an overview, one page for each resource, and one with all errors. */
export function referencePages(reference: Reference, highlighter: Highlighter): Page[] {
  const { title, document, base } = reference;
  const { info, tags } = document;
  const errorsHref = `${base}/errors`;
  const source: Source = { document, highlighter, errorsHref };
  const groupsFor = (current: string): Group[] => sideBar(reference, current);
  const shared = { area: base, wide: true };
  const overview: Page = {
    ...shared,
    href: base,
    title,
    description: info.summary,
    body: overviewBody(reference, highlighter),
    headings: tags.map(({ name }) => ({ href: `#${slugOf(name)}`, text: name })),
    wide: false,
    groups: groupsFor(base),
  };
  const resources = tags.map(({ name, description }): Page => {
    const href = `${base}/${slugOf(name)}`;
    const articles = routesOf(document, name).map((route) => operationArticle(route, source));
    const body = `<h1>${escapeHtml(name)}</h1>\n<p class="lead">${inline(description)}</p>\n${articles.join("\n")}`;
    return { ...shared, href, title: name, description, body, groups: groupsFor(href) };
  });
  const errors: Page = {
    ...shared,
    href: errorsHref,
    title: "Errors",
    description: "Every error that these routes return.",
    body: errorsBody(document, highlighter),
    groups: groupsFor(errorsHref),
  };
  return [overview, ...resources, errors];
}

/** The address of each route's description, by its route: `GET /api/v1/chats`. */
export function routeAddresses({ document, base }: Reference): [string, string][] {
  return document.tags.flatMap(({ name }) =>
    routesOf(document, name).map(({ method, path, operation }): [string, string] => [
      `${method} ${path}`,
      `${base}/${slugOf(name)}#${operation.operationId}`,
    ]),
  );
}

/** The search entries of a document: each route and each error. */
export function referenceSections({ title, document, base }: Reference): (Section & { page: string })[] {
  const routes = document.tags.flatMap(({ name }) =>
    routesOf(document, name).map(({ method, path, operation }) => ({
      page: `${title}: ${name}`,
      heading: operation.summary,
      href: `${base}/${slugOf(name)}#${operation.operationId}`,
      text: `${method} ${path} ${operation.description}`.replaceAll("`", "").replace(/\s+/g, " "),
    })),
  );
  const errors = errorsOf(document).map(({ status, code, summary }) => {
    return {
      page: `${title}: Errors`,
      heading: code,
      href: `${base}/errors#${code}`,
      text: `${status} ${summary.replaceAll("`", "")}`,
    };
  });
  return [...routes, ...errors];
}

function sideBar({ title, document, base, json }: Reference, current: string): Group[] {
  const resources = document.tags.flatMap(({ name }): Link[] => {
    const href = `${base}/${slugOf(name)}`;
    const routes = routesOf(document, name).map(({ method, operation }) => {
      return { href: `${href}#${operation.operationId}`, text: operation.summary, method };
    });
    return [{ href, text: name }, ...(href === current ? routes : [])];
  });
  return [
    {
      title,
      links: [{ href: base, text: "Overview" }, ...resources, { href: `${base}/errors`, text: "Errors" }],
    },
    {
      title: "For programs",
      links: [
        { href: json, text: "OpenAPI document" },
        { href: "/llms.txt", text: "Plain Markdown" },
      ],
    },
  ];
}

function overviewBody({ title, document, base, json }: Reference, highlighter: Highlighter): string {
  const { info, tags } = document;
  const secret = secretOf(document);
  const server = `${PLACEHOLDER}${document.servers[0]?.url ?? ""}`;
  const lists = tags.map(({ name, description }) => {
    const href = `${base}/${slugOf(name)}`;
    const lines = routesOf(document, name).map(
      ({ method, path, operation }) =>
        `<li><a href="${href}#${operation.operationId}">${methodBadge(method)} <code>${escapeHtml(path).replaceAll("/", "/<wbr>")}</code></a> ${escapeHtml(operation.summary)}</li>`,
    );
    return `<h2 id="${slugOf(name)}"><a href="${href}">${escapeHtml(name)}</a></h2>\n<p>${inline(description)}</p>\n<ul class="routes">${lines.join("\n")}</ul>`;
  });
  return `<h1>${escapeHtml(title)} <small>${escapeHtml(info.version)}</small></h1>
${prose(info.description)}
<p>The base address:</p>
${codeBlock({ code: server, language: "text", label: "the base address" }, highlighter)}
<p>The examples read the secret from an environment variable:</p>
${codeBlock({ code: `export ${secret}=…`, language: "shellscript", label: "the variable" }, highlighter)}
<p>This reference is also an <a href="${json}">OpenAPI document</a> and <a href="/llms.txt">plain Markdown</a>.</p>
${lists.join("\n")}`;
}

interface KnownError {
  status: string;
  code: string;
  summary: string;
  value: unknown;
}

/** Every error that the routes of a document return, once, sorted by status. */
function errorsOf(document: OpenApi): KnownError[] {
  const all = document.tags
    .flatMap(({ name }) => routesOf(document, name))
    .flatMap(({ operation }) => responsesOf(document, operation))
    .flatMap(({ status, response }) =>
      Object.entries(response.content?.["application/json"]?.examples ?? {}).map(([code, { summary, value }]) => {
        return { status, code, summary, value };
      }),
    );
  return [...new Map(all.map((each) => [each.code, each])).values()].toSorted(
    (one, other) => Number(one.status) - Number(other.status),
  );
}

function errorsBody(document: OpenApi, highlighter: Highlighter): string {
  const articles = errorsOf(document).map(
    ({ status, code, summary, value }) => `<article class="operation error" aria-labelledby="${code}">
<div class="text"><h2 id="${code}">${statusBadge(status)} <code>${code}</code></h2><p>${inline(summary)}</p></div>
<div class="sample">${codeBlock({ code: JSON.stringify(value, null, 2), language: "json", label: code }, highlighter)}</div>
</article>`,
  );
  return `<h1>Errors</h1>
<p class="lead">Every error that these routes return. Use <code>code</code> in programs: it never changes, but the text can.</p>
${articles.join("\n")}`;
}
