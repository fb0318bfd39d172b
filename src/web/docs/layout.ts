import { escapeHtml, htmlPage, SCROLLING } from "../../platform/html.ts";
import { methodBadge } from "./markup.ts";

/** A link in the side bar. `method` marks a link to a route. */
export interface Link {
  href: string;
  text: string;
  method?: string;
}

/** A titled group of links in the side bar. */
export interface Group {
  title: string;
  links: readonly Link[];
}

/** The three parts of the site. */
const AREAS: readonly Link[] = [
  { href: "/docs", text: "Guides" },
  { href: "/docs/reference", text: "API reference" },
  { href: "/docs/operator", text: "Operator API" },
];

export interface Page {
  /** Its address: `/docs/sending`. */
  href: string;
  title: string;
  description: string;
  /** The markup of `<main>`, its `<h1>` included. */
  body: string;
  /** The part of the site: one of the three addresses in the header. */
  area: string;
  /** The side bar. */
  groups: readonly Group[];
  /** The headings of the page, for "On this page". */
  headings?: readonly Link[];
  /** Reference pages use the whole width, for code beside the text. */
  wide?: boolean;
}

/** A whole page. It has no inline script or style, and works without its script. */
export function layout(page: Page): string {
  const { title, description, body, wide = false, headings = [] } = page;
  return htmlPage({
    title: `${title} · Parley`,
    description,
    viewport: SCROLLING,
    style: "/web-assets/docs.css",
    script: '<script src="/web-assets/docs.js" defer></script>',
    body: `<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="top">
<a class="brand" href="/docs">Parley</a>
<nav class="areas" aria-label="Parts of the documentation">${AREAS.map((area) => link(area, page.area === area.href ? "true" : "")).join("")}</nav>
<div class="search" id="search"></div>
</header>
<div class="frame${wide ? " wide" : ""}">
<nav class="side" aria-label="Pages">
<details class="menu"><summary>All pages</summary>
${page.groups.map((group) => sideGroup(group, page.href)).join("\n")}
</details>
</nav>
<main id="content" tabindex="-1">
${body}
${pager(page)}
</main>
${headings.length > 1 ? onThisPage(headings) : ""}
</div>
</body>`,
  });
}

function sideGroup({ title, links }: Group, current: string): string {
  const items = links.map((each) => `<li>${link(each, each.href === current ? "page" : "")}</li>`);
  return `<p class="group">${escapeHtml(title)}</p>\n<ul>${items.join("")}</ul>`;
}

function link({ href, text, method }: Link, current = ""): string {
  const mark = current && ` aria-current="${current}"`;
  return `<a href="${escapeHtml(href)}"${mark}><span>${escapeHtml(text)}</span>${method ? methodBadge(method) : ""}</a>`;
}

function onThisPage(headings: readonly Link[]): string {
  return `<nav class="toc" aria-label="On this page">
<p class="group">On this page</p>
<ul>${headings.map((each) => `<li>${link(each)}</li>`).join("")}</ul>
</nav>`;
}

/** Links to the previous and the next page, in the order of the side bar. */
function pager({ groups, href }: Page): string {
  const pages = groups.flatMap(({ links }) => links).filter(({ href }) => /^\/docs[\w/-]*$/.test(href));
  const at = pages.findIndex((each) => each.href === href);
  const [before, after] = at < 0 ? [] : [pages[at - 1], pages[at + 1]];
  const one = (each: Link | undefined, label: string) =>
    each
      ? `<a class="${label.toLowerCase()}" href="${each.href}"><small>${label}</small> ${escapeHtml(each.text)}</a>`
      : "";
  return before || after
    ? `<nav class="pager" aria-label="Previous and next page">${one(before, "Previous")}${one(after, "Next")}</nav>`
    : "";
}
