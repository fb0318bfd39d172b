import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { OpenApi } from "./document.ts";
import { fileName, type Guide, readIndex, renderGuide } from "./guide.ts";
import { openHighlighter } from "./highlight.ts";
import { type Group, layout, type Page } from "./layout.ts";
import { llmsText } from "./llms.ts";
import { type Reference, referencePages, referenceSections, routeAddresses } from "./reference.ts";
import { searchIndex } from "./search-index.ts";

const GUIDES = fileURLToPath(new URL("../../docs/", import.meta.url));
const DOCUMENTS = fileURLToPath(new URL("../../openapi/", import.meta.url));

/** The OpenAPI documents and the addresses of their pages. Neither needs a key. */
const REFERENCES = [
  { title: "API reference", file: "public.json", json: "/api/v1/openapi.json", base: "/docs/reference" },
  { title: "Operator API", file: "operator.json", json: "/admin/v1/openapi.json", base: "/docs/operator" },
];

/** The guide that is the front page: it lists all others. */
const INDEX = "README.md";

/**
 * Writes the documentation into the folder `out`: the guides as pages and as Markdown, the reference pages, the search
 * index, the OpenAPI documents and `llms.txt`.
 */
export async function writeDocs(out: string): Promise<void> {
  const write = async (path: string, text: string) => {
    await mkdir(dirname(join(out, path)), { recursive: true });
    await writeFile(join(out, path), text);
  };
  const highlighter = await openHighlighter();
  const references = await Promise.all(
    REFERENCES.map(async ({ file, ...where }): Promise<Reference & { raw: string }> => {
      const raw = await readFile(join(DOCUMENTS, file), "utf8");
      return { ...where, raw, document: JSON.parse(raw) as OpenApi };
    }),
  );
  const routes = new Map(references.flatMap(routeAddresses));

  const index = await readFile(join(GUIDES, INDEX), "utf8");
  const listed = readIndex(index);
  const files = [INDEX, ...listed.flatMap(({ pages }) => pages.map(({ file }) => file))];
  const groups: Group[] = listed.map(({ title, pages }) => {
    return { title, links: pages.map(({ file, title }) => ({ href: addressOf(file), text: title })) };
  });
  const guides = await Promise.all(
    files.map(async (file): Promise<Guide & { href: string; file: string; markdown: string }> => {
      const markdown = await readFile(join(GUIDES, file), "utf8");
      const href = addressOf(file);
      return { ...renderGuide(markdown, href, { routes, highlighter }), href, file, markdown };
    }),
  );

  const pages: Page[] = guides.map(({ file, ...guide }) => {
    // On the front page each guide is a card: its title, then its description.
    const body = file === INDEX ? `<div class="front">${guide.body.replaceAll("</a>: ", "</a> ")}</div>` : guide.body;
    return { ...guide, body, area: "/docs", groups, headings: file === INDEX ? [] : guide.headings };
  });
  for (const reference of references) pages.push(...referencePages(reference, highlighter));
  await Promise.all(pages.map((page) => write(`${page.href}.html`, layout(page))));

  await Promise.all(guides.map(({ file, files, markdown }) => write(`docs/${file}`, besides(markdown, files))));
  const linked = new Set(guides.flatMap(({ files }) => files));
  await Promise.all([...linked].map((file) => copyFile(join(GUIDES, file), join(out, "docs", fileName(file)))));
  await Promise.all(references.map(({ json, raw }) => write(json, raw)));
  const sections = [
    ...guides.flatMap(({ title, sections }) => sections.map((section) => ({ ...section, page: title }))),
    ...references.flatMap(referenceSections),
  ];
  await write("docs/search.json", JSON.stringify(searchIndex(sections)));
  await write("llms.txt", llmsText(listed, references));
  await highlighter.save();
}

/** The Markdown of a guide where its files are served: beside it. */
function besides(markdown: string, files: readonly string[]): string {
  return files.reduce((text, file) => text.replaceAll(`](${file})`, `](${fileName(file)})`), markdown);
}

function addressOf(file: string): string {
  return file === INDEX ? "/docs" : `/docs/${file.replace(/\.md$/, "")}`;
}
