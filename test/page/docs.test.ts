import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { transform } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import { matchingSecret } from "../../src/channels/web/identity.ts";
import { type OpenApi, routesOf } from "../../src/web/docs/document.ts";
import { readIndex } from "../../src/web/docs/guide.ts";
import { openHighlighter } from "../../src/web/docs/highlight.ts";
import { slugOf } from "../../src/web/docs/markup.ts";
import { samplesOf, secretOf } from "../../src/web/docs/samples.ts";
import { writeDocs } from "../../src/web/docs/write.ts";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));
const guides = join(root, "src/docs");
let out = "";
/** The markup of each page by its address: `/docs/sending`. */
const pages = new Map<string, string>();

beforeAll(async () => {
  out = await mkdtemp(join(tmpdir(), "parley-docs-"));
  await writeDocs(out);
  for (const path of await readdir(out, { recursive: true })) {
    if (path.endsWith(".html")) pages.set(`/${path.replace(/\.html$/, "")}`, await readFile(join(out, path), "utf8"));
  }
});
afterAll(() => rm(out, { recursive: true }));

const isTypeScript = (code: string) => code.startsWith("const");
const idsOf = (markup: string) => [...markup.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);

test("every link on a page has an existing page, file or heading as its target", async () => {
  expect(pages.size).toBeGreaterThan(25);
  const built = new Set(await readdir(out, { recursive: true }));
  const dead: string[] = [];
  for (const [address, markup] of pages) {
    for (const [, href = ""] of markup.matchAll(/ (?:href|src)="([^"]+)"/g)) {
      // Another build step creates the script and the style sheet.
      if (/^(https:|data:|\/web-assets\/)/.test(href)) continue;
      const [path = "", anchor = ""] = href.split("#");
      const target = pages.get(path || address);
      const isThere = target === undefined ? built.has(path.slice(1)) : !anchor || idsOf(target).includes(anchor);
      if (!isThere) dead.push(`${address}: ${href}`);
    }
  }
  expect(dead).toEqual([]);
});

test("every link in the README and the guides has an existing file or heading on a code host as its target", async () => {
  const files = [join(root, "README.md"), ...(await readdir(guides)).map((name) => join(guides, name))];
  const dead: string[] = [];
  for (const file of files) {
    const text = await readFile(file, "utf8");
    for (const [, to = ""] of text.replace(/^```[\s\S]*?^```/gm, "").matchAll(/\]\(([^)\s]+)\)/g)) {
      if (to.startsWith("https:")) continue;
      const [path = "", anchor] = to.split("#");
      const target = path === "" ? file : join(dirname(file), path);
      const isFile = await stat(target).then(
        (found) => found.isFile(),
        () => false,
      );
      const headings = isFile && anchor ? [...(await readFile(target, "utf8")).matchAll(/^#+ (.+)$/gm)] : [];
      const isHeading = anchor === undefined || headings.some(([, heading = ""]) => slugOf(heading) === anchor);
      if (!isFile || !isHeading) dead.push(`${file}: ${to}`);
    }
  }
  expect(dead).toEqual([]);
});

test("the Markdown of each guide is served as it is, and its links lead to what is served", async () => {
  const files = (await readdir(guides)).filter((name) => name.endsWith(".md"));
  const dead: string[] = [];
  for (const file of files) {
    const served = await readFile(join(out, "docs", file), "utf8");
    const source = await readFile(join(guides, file), "utf8");
    expect(served).toBe(source.replaceAll("](../web/", "]("));
    for (const [, to = ""] of served.replace(/^```[\s\S]*?^```/gm, "").matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^(?:https:|#)/.test(to)) continue;
      const { pathname } = new URL(to, `https://parley.example/docs/${file}`);
      if (!(await stat(join(out, pathname)).catch(() => null))?.isFile()) dead.push(`${file}: ${to}`);
    }
  }
  expect(dead).toEqual([]);
});

test("ids on a page are unique, and a page has no inline script or style", () => {
  for (const [address, markup] of pages) {
    const ids = idsOf(markup);
    expect(
      ids.filter((id, at) => ids.indexOf(id) !== at),
      address,
    ).toEqual([]);
    expect(markup, address).not.toMatch(/<script(?![^>]* src=)|<style| style=| on\w+="/);
  }
});

test("the index, the README and llms.txt list every guide", async () => {
  const files = (await readdir(guides)).filter((name) => /(?<!^README)\.md$/.test(name)).toSorted();
  const index = readIndex(await readFile(join(guides, "README.md"), "utf8"));
  expect(index.flatMap(({ pages }) => pages.map(({ file }) => file)).toSorted()).toEqual(files);
  const readme = await readFile(join(root, "README.md"), "utf8");
  const llms = await readFile(join(out, "llms.txt"), "utf8");
  for (const file of files) {
    expect(readme).toContain(`](src/docs/${file})`);
    expect(llms).toContain(`](/docs/${file})`);
  }
});

test("the changelog begins with the version of package.json", async () => {
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { version: string };
  const [, newest] = /^## (.+)$/m.exec(await readFile(join(guides, "changelog.md"), "utf8")) ?? [];
  expect(newest).toBe(version);
});

test("every route has a request in curl and TypeScript, and a response beside it", async () => {
  const document = JSON.parse(await readFile(join(root, "src/openapi/public.json"), "utf8")) as OpenApi;
  const page = pages.get("/docs/reference/messages") ?? "";
  const articles = page.split("<article ").slice(1);
  expect(articles.length).toBe(routesOf(document, "Messages").length);
  for (const article of articles) {
    expect(article).toContain('data-tab="curl"');
    expect(article).toContain('data-tab="TypeScript"');
  }
  expect(pages.get("/docs/operator/keys")).toContain("PARLEY_ADMIN_TOKEN");
  expect(page).toContain("PARLEY_API_KEY");
  expect(page).not.toContain("localhost");
});

test("the TypeScript in guides and references has no syntax errors", async () => {
  const inGuides = await Promise.all((await readdir(guides)).map((name) => readFile(join(guides, name), "utf8")));
  const blocks = inGuides.flatMap((text) =>
    [...text.matchAll(/^```ts.*\n([\s\S]*?)^```/gm)].map(([, code = ""]) => code),
  );
  const documents = ["public", "operator"].map((name) => readFile(join(root, `src/openapi/${name}.json`), "utf8"));
  const samples = (await Promise.all(documents)).flatMap((text) => {
    const document = JSON.parse(text) as OpenApi;
    const routes = document.tags.flatMap(({ name }) => routesOf(document, name));
    return routes.flatMap((route) => samplesOf(route, secretOf(document)).map(({ code }) => code)).filter(isTypeScript);
  });
  expect([blocks.length > 4, samples.length > 30]).toEqual([true, true]);
  for (const code of [...blocks, ...samples]) await transform(code, { loader: "ts", format: "esm" });
});

test("the service accepts a hash from the guide's code, with and without an expiry", async () => {
  const guide = await readFile(join(guides, "web-chat.md"), "utf8");
  const blocks = [...guide.matchAll(/^```ts Node.js\n([\s\S]*?)^```/gm)].map(([, code = ""]) => code);
  expect(blocks.length).toBe(2);
  for (const block of blocks) {
    const imports = block.includes("import ") ? "" : 'import { createHmac } from "node:crypto";';
    const shown = `console.log(JSON.stringify({ hash, expires: ${block.includes("expires") ? "expires" : "null"} }));`;
    const program = `${imports}\nconst userId = "user-4711";\n${block}\n${shown}`;
    const env = { ...process.env, IDENTITY_SECRET: "a secret" };
    const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", program], { env });
    const { hash, expires } = JSON.parse(stdout) as { hash: string; expires: number | null };
    const claim = { user: "user-4711", hash: new Uint8Array(Buffer.from(hash, "hex")), expires };
    expect(await matchingSecret(claim, ["another", "a secret"], Date.now())).toBe("a secret");
    expect(await matchingSecret({ ...claim, user: "user-4712" }, ["a secret"], Date.now())).toBeNull();
  }
});

test("an error looks different from a success", () => {
  const page = pages.get("/docs/reference/chats") ?? "";
  const classes = [...page.matchAll(/class="status (\w+)">(\d)\d\d</g)].map(([, name, first]) => `${name} ${first}`);
  expect(new Set(classes)).toEqual(new Set(["s2xx 2", "s3xx 3", "s4xx 4", "s5xx 5"]));
});

test("numbers of a table are not shown as statuses", () => {
  const page = pages.get("/docs/performance") ?? "";
  expect(page).toMatch(/<td>[2-5]\d\d<\/td>/);
  expect(page).not.toContain('class="status');
  expect(pages.get("/docs/errors-and-limits")).toContain('<td><span class="status s4xx">409</span></td>');
});

test("highlighted code is the same from the cache, escapes markup, and leaves unknown languages plain", async () => {
  const cache = join(out, "cache/highlight.json");
  const code = 'const a = "<b>"; // it\'s & more';
  const first = await openHighlighter(cache);
  const markup = first.highlight(code, "ts");
  await first.save();
  expect((await openHighlighter(cache)).highlight(code, "ts")).toBe(markup);
  expect(markup).toContain('<span class="t-keyword">const</span>');
  expect(markup).not.toContain("<b>");
  expect(first.highlight("<b>", "cobol")).toBe("&lt;b&gt;");
});

test("no link is inside another one", () => {
  for (const [address, markup] of pages)
    expect(markup.match(/<a [^>]*>(?:(?!<\/a>).)*<a /s)?.[0], address).toBe(undefined);
});
