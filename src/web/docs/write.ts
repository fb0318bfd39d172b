import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { OpenApi } from "./document.ts";
import { llmsText } from "./llms.ts";
import { docsPage } from "./page.ts";

/** Where each committed document, and the page made of it, is served from. Neither holds a secret: no key is asked for. */
const DOCUMENTS = {
  public: { json: "api/v1/openapi.json", page: "docs.html", text: "Clients' reference" },
  operator: { json: "admin/v1/openapi.json", page: "docs/operator.html", text: "Operators' reference" },
};

const names = Object.keys(DOCUMENTS) as (keyof typeof DOCUMENTS)[];
const source = join(import.meta.dirname, "../../openapi");

/** Writes the OpenAPI documents, a page of reference for each, and both in Markdown, below `out`. */
export async function writeDocs(out: string): Promise<void> {
  const texts = await Promise.all(names.map((name) => readFile(join(source, `${name}.json`), "utf8")));
  const all = names.map((name, at) => {
    const text = texts[at] ?? "";
    return { ...DOCUMENTS[name], raw: text, document: JSON.parse(text) as OpenApi };
  });
  const write = async (path: string, text: string) => {
    await mkdir(dirname(join(out, path)), { recursive: true });
    await writeFile(join(out, path), text);
  };
  for (const { json, page, raw, document } of all) {
    const links = all
      .filter((other) => other.page !== page)
      .map(({ page, text }) => ({ href: `/${page.replace(".html", "")}`, text }));
    const others = [...links, { href: `/${json}`, text: "OpenAPI" }, { href: "/llms.txt", text: "Markdown" }];
    await write(json, raw);
    await write(page, docsPage(document, others));
  }
  await write("llms.txt", llmsText(all.map(({ document, json }) => ({ document, href: `/${json}` }))));
}
