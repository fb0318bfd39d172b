import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { ORGANIZATION_SCHEMA } from "../../../../src/organizations/object/schema.ts";
import { INDEX_SCHEMA } from "../../../../src/search/object/schema.ts";
import { FIRST_SCHEMA } from "./first-schema.ts";

/** The tables and indexes that these statements make in an empty object, each as the statement that would make it. */
function tablesAfter(statements: readonly string[]): Promise<string[]> {
  return runInDurableObject(env.ORGANIZATIONS.get(env.ORGANIZATIONS.newUniqueId()), (_object, { storage }) => {
    for (const statement of statements) storage.sql.exec(statement);
    const query = "select sql from sqlite_master where sql is not null and name not like '\\_cf%' escape '\\'";
    const rows = storage.sql.exec<{ sql: string }>(query).toArray();
    // A statement has the spaces of whoever wrote it, and others where a column was added.
    return rows.map(({ sql }) => sql.replace(/\s+/g, " ").replace(/ (?=[,)])|(?<=\() /g, "")).sort();
  });
}

test("a new organization has the tables of one from the first release that ran all later steps", async () => {
  const [whole = "", ...later] = ORGANIZATION_SCHEMA;
  const tables = await tablesAfter([whole]);
  expect(tables.length).toBeGreaterThan(30);
  expect(tables).toEqual(await tablesAfter([FIRST_SCHEMA, ...later]));
});

test("a new search index has the tables of one from the first release that ran all later steps", async () => {
  const [whole, ...later] = INDEX_SCHEMA;
  const tables = await tablesAfter([whole]);
  expect(tables.length).toBeGreaterThan(3);
  expect(tables).toEqual(await tablesAfter([whole, "drop table removals", ...later]));
});
