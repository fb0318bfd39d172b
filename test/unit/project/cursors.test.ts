import { expect, test } from "vitest";

/**
 * A cursor that was not read to its end stays open until it is collected as garbage. Until then SQLite drops no table
 * (`SQLITE_LOCKED`). So each statement's rows are read where it runs.
 */

/** The text of each module of the service, by its path from the repository's root. */
const SOURCES = Object.entries(
  import.meta.glob<string>(["../../../src/**/*.ts", "!../../../src/{cli,client,openapi,web}/**"], {
    query: "?raw",
    import: "default",
    eager: true,
  }),
).map(([path, text]): [string, string] => [path.replace("../../../", ""), text]);

const RUN = /[\w$.#]*\bsql\s*\.\s*exec\b/g;
const READ_TO_ITS_END = /^\s*(?:\.raw(?:<[^()]*>)?\(\)\s*)?\.(?:toArray|one)\(\)/;
const STATEMENT_BEGINS = /(?:^|[;{})]|\belse)\s*$/;
const RETURNS_ROWS = /^\(\s*["'`]\s*(?:select|with|values|pragma)\b|\breturning\b/i;
const COMMENT = /\/\/.*|\/\*[\s\S]*?\*\//g;

/** The position after the bracket that closes the one at `start`. */
function afterBrackets(text: string, start: number): number {
  const [opening, closing] = text[start] === "<" ? ["<([{", ">)]}"] : ["([{", ")]}"];
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const character = text[at] as string;
    if (`"'\``.includes(character)) at = endOfString(text, at);
    else if (opening.includes(character)) depth++;
    else if (closing.includes(character) && text[at - 1] !== "=") depth--;
    if (depth === 0) return at + 1;
  }
  return text.length;
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === text[start]) return at;
    else if (text[start] === "`" && text.startsWith("${", at)) at = afterBrackets(text, at + 1) - 1;
  }
  return text.length;
}

/** The statements that may leave a cursor open, each as its path and line. */
function openCursors([path, text]: [string, string]): string[] {
  const code = text.replace(COMMENT, (comment) => comment.replace(/[^\n]/g, " "));
  return Array.from(code.matchAll(RUN)).flatMap(({ 0: run, index }) => {
    const end = index + run.length;
    const types = code[end] === "<" ? afterBrackets(code, end) : end;
    const given = afterBrackets(code, types);
    const isWrite = STATEMENT_BEGINS.test(code.slice(0, index)) && /^\s*;/.test(code.slice(given));
    const isClosed = READ_TO_ITS_END.test(code.slice(given));
    if (isClosed || (isWrite && !RETURNS_ROWS.test(code.slice(types, given)))) return [];
    return [`${path}:${code.slice(0, index).split("\n").length}`];
  });
}

test("no cursor outlives its statement: rows are read with toArray() or one() at once", () => {
  expect(SOURCES.filter(([, text]) => text.search(RUN) >= 0).length).toBeGreaterThan(20);
  expect(SOURCES.flatMap(openCursors)).toEqual([]);
});

test("no module of the service holds a cursor", () => {
  expect(SOURCES.filter(([, text]) => text.includes("SqlStorageCursor")).map(([path]) => path)).toEqual([]);
});

test.for([
  'const [row] = this.#sql.exec<{ n: number }>("select n from t");',
  'for (const row of storage.sql.exec("select n from t")) break;',
  'return [...sql.exec("select n from t")];',
  `yield* this.#sql\n  .exec(\`select \${"n"} from t where a < ?\`, value);`,
  'const rows = sql.exec("select n from t");\nreturn rows.toArray();',
  'const rows = () => sql.exec("select n from t");',
  'return this.#sql.exec("select 1 from t").next().done;',
  'sql.exec("select n from t");',
  'if (is) sql.exec("insert into t values (1) returning n");',
])("the check finds %s", (text) => {
  expect(openCursors(["src/a.ts", text])).toEqual(["src/a.ts:1"]);
});

test.for([
  'const [row] = this.#sql.exec<Map<string, () => void>>("select n from t where a > ?", of(1)).toArray();',
  `return sql\n  .exec<Row>(\`select \${a ? \`(\${b})\` : "\`"} from t)\`)\n  // All of them.\n  .toArray()[0];`,
  'const { n } = sql.exec("select count(*) as n from t").one();',
  'const rows = sql.exec("select n from t").raw<[number]>().toArray();',
  "this.#sql.exec(query, depth > 0 ? oldest : null);",
  '// The oldest.\nthis.#sql.exec("delete from t where n < ?", n);',
  'if (is) sql.exec("drop table t");\nelse this.ctx.storage.sql.exec("update t set n = 1");',
  "const [, month] = MONTH.exec(text) ?? [];",
])("the check allows %s", (text) => {
  expect(openCursors(["src/a.ts", text])).toEqual([]);
});
