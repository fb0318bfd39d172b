import { Marked, type Token, type Tokens } from "marked";
import { escapeHtml } from "../../platform/html.ts";
import type { Highlighter } from "./highlight.ts";
import type { Link } from "./layout.ts";
import { codeBlock, codeTabs, methodBadge, type Sample, slugOf, statusBadge } from "./markup.ts";

/** A section of a guide, for the search. */
export interface Section {
  /** Empty for the text before the first heading. */
  heading: string;
  /** With its anchor. */
  href: string;
  text: string;
}

/** A rendered guide. */
export interface Guide {
  title: string;
  /** The first paragraph, without markup. */
  description: string;
  body: string;
  headings: Link[];
  sections: Section[];
  /** The images of the guide, and the files that it links, as paths relative to its folder. */
  files: string[];
}

export interface RenderOptions {
  /** The address of each route's reference, by its route: `POST /api/v1/chats`. */
  routes: ReadonlyMap<string, string>;
  highlighter: Highlighter;
}

/** Tables with more columns get a smaller font. */
const MANY_COLUMNS = 5;

/** Renders a guide, which is plain Markdown that also reads well on a code host. */
export function renderGuide(markdown: string, href: string, { routes, highlighter }: RenderOptions): Guide {
  const marked = new Marked();
  const tokens = marked.lexer(markdown);
  const files: string[] = [];
  let isInLink = false;
  marked.use({
    renderer: {
      heading({ tokens: inside, depth, text }) {
        const id = slugOf(plain(text));
        const words = this.parser.parseInline(inside);
        return depth === 1
          ? `<h1>${words}</h1>\n`
          : `<h${depth} id="${id}"><a class="anchor" href="#${id}">${words}</a></h${depth}>\n`;
      },
      code: (token) => codeBlock(sampleOf(token), highlighter),
      codespan({ text }) {
        const route = routes.get(text);
        const [, method = "", path = ""] = /^(GET|POST|PUT|PATCH|DELETE) (\/\S*)$/.exec(text) ?? [];
        const code = method
          ? `${methodBadge(method)} <code>${escapeHtml(path).replaceAll("/", "/<wbr>")}</code>`
          : `<code>${escapeHtml(text)}</code>`;
        // A link in a link is not valid HTML.
        return route && !isInLink ? `<a class="to-route" href="${route}">${code}</a>` : code;
      },
      link({ href: to, tokens: inside }) {
        isInLink = true;
        const words = this.parser.parseInline(inside);
        isInLink = false;
        if (/^[\w-]+\.(json|yml)$/.test(to)) files.push(to);
        return `<a href="${escapeHtml(addressOf(to))}">${words}</a>`;
      },
      image({ href: file, text }) {
        files.push(file);
        return `<img src="/docs/${escapeHtml(fileName(file))}" alt="${escapeHtml(text)}">`;
      },
      table(table) {
        const head = table.header.map((cell) => `<th scope="col">${this.parser.parseInline(cell.tokens)}</th>`);
        const rows = table.rows.map(
          (cells) =>
            `<tr${rowId(cells)}>${cells.map((cell, column) => cellOf(cell, column, this.parser)).join("")}</tr>`,
        );
        const name = plain(table.header[0]?.text ?? "");
        const many = table.header.length > MANY_COLUMNS ? " many" : "";
        return `<div class="table${many}" role="region" tabindex="0" aria-label="Table: ${escapeHtml(name)}"><table><thead><tr>${head.join("")}</tr></thead><tbody>${rows.join("\n")}</tbody></table></div>\n`;
      },
    },
  });
  const body = marked.parser(withTabs(tokens, highlighter));
  const sections = sectionsOf(tokens, href);
  const headings = tokens.flatMap((token) =>
    token.type === "heading" && token.depth === 2
      ? [{ href: `#${slugOf(plain(token.text))}`, text: plain(token.text) }]
      : [],
  );
  const title = plain(tokens.find((token): token is Tokens.Heading => token.type === "heading")?.text ?? "");
  const [first] = tokens.filter((token): token is Tokens.Paragraph => token.type === "paragraph");
  return { title, description: plain(first?.text ?? ""), body, headings, sections, files };
}

/** The groups and pages that an index lists: a heading for each group, `- [Title](file.md): description` for each page. */
export function readIndex(
  markdown: string,
): { title: string; pages: { file: string; title: string; about: string }[] }[] {
  return markdown
    .split(/^## /m)
    .slice(1)
    .map((part) => ({
      title: part.slice(0, part.indexOf("\n")),
      pages: [...part.matchAll(/^- \[(.+?)\]\((.+?\.md)\): (.+)$/gm)].map(([, title = "", file = "", about = ""]) => {
        return { file, title, about };
      }),
    }))
    .filter(({ pages }) => pages.length > 0);
}

/** Consecutive code blocks with a label after their language (```` ```sh curl ````) become tabs. */
function withTabs(tokens: readonly Token[], highlighter: Highlighter): Token[] {
  const all: Token[] = [];
  let samples: Sample[] = [];
  const close = () => {
    const raw = samples.length > 0 ? codeTabs(samples, highlighter) : "";
    if (raw) all.push({ type: "html", raw, text: raw, block: true, pre: false } satisfies Tokens.HTML);
    samples = [];
  };
  for (const token of tokens) {
    const isLabelled = token.type === "code" && /\s/.test(token.lang ?? "");
    if (isLabelled) samples.push(sampleOf(token as Tokens.Code));
    else if (token.type !== "space" || samples.length === 0) {
      close();
      all.push(token);
    }
  }
  close();
  return all;
}

function sampleOf({ text, lang = "" }: Tokens.Code): Sample {
  const [language = "", ...label] = lang.split(" ");
  return { code: text, language, label: label.join(" ") || "this code" };
}

/** Replaces the name of a guide, or of another file in its folder, with its address. Other addresses stay. */
function addressOf(to: string): string {
  return to
    .replace(/^(?:\.\/)?README\.md/, "/docs")
    .replace(/^(?:\.\/)?([\w-]+)\.md/, "/docs/$1")
    .replace(/^([\w-]+\.(?:json|yml))$/, "/docs/$1");
}

/** The name under which an image or another file is served next to the pages. */
export function fileName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Rows about errors can be linked: the `code` is the anchor. */
function rowId([status, code]: readonly Tokens.TableCell[]): string {
  const isError = /^[45]\d\d$/.test(status?.text ?? "") && /^`\w+`$/.test(code?.text ?? "");
  return isError ? ` id="${code?.text.replaceAll("`", "")}"` : "";
}

/** A status is in the first column. Such a number elsewhere is a quantity. */
function cellOf(
  { text, tokens }: Tokens.TableCell,
  column: number,
  parser: { parseInline(tokens: Token[]): string },
): string {
  const isStatus = column === 0 && /^[2-5]\d\d$/.test(text);
  return `<td>${isStatus ? statusBadge(text) : parser.parseInline(tokens)}</td>`;
}

/** The text of a guide, split at its headings. */
function sectionsOf(tokens: readonly Token[], href: string): Section[] {
  const sections: Section[] = [{ heading: "", href, text: "" }];
  for (const token of tokens) {
    if (token.type === "heading" && token.depth > 1) {
      const heading = plain(token.text);
      sections.push({ heading, href: `${href}#${slugOf(heading)}`, text: "" });
    } else if (token.type !== "heading") {
      const last = sections.at(-1);
      if (last) last.text = `${last.text} ${plain(token.raw)}`.trim();
    }
  }
  return sections;
}

/** Markdown as plain text on one line. */
function plain(markdown: string): string {
  return markdown
    .replace(/^```\S*(.*)$/gm, "$1")
    .replace(/^\|[\s|:-]+\|$/gm, "")
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/^\s*(?:[-\d]\.?|#+) /gm, "")
    .replace(/[`*]/g, "")
    .replaceAll("|", " ")
    .replace(/\s+/g, " ")
    .trim();
}
