import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { admin, newOrganization } from "../../support/harness.ts";

type Row = Record<string, unknown>;

/** What is new in each organization. */
const OWN = ["id", "organization_id", "created_at", "hash", "identity_secret", "at", "requestId", "target"];

/** An organization's rows in the directory and in the audit log, with the length of what is new in each. */
async function rowsOf(organizationId: string): Promise<Record<string, Row[]>> {
  const rows: Record<string, Row[]> = {};
  for (const table of ["organizations", "members", "channels", "api_keys"]) {
    const column = table === "organizations" ? "id" : "organization_id";
    const query = env.DB.prepare(`select * from ${table} where ${column} = ?`).bind(organizationId);
    rows[table] = (await query.all<Row>()).results;
  }
  rows.audit = (await admin("GET", `/organizations/${organizationId}/audit`)).body.entries;
  const shown = ([key, value]: [string, unknown]) => [key, OWN.includes(key) ? JSON.stringify(value).length : value];
  const alike = (row: Row) => Object.fromEntries(Object.entries(row).map(shown));
  return Object.fromEntries(Object.entries(rows).map(([table, all]) => [table, all.map(alike)]));
}

test("an organization that a test stores has the rows of one that the operator creates", async () => {
  const stored = await newOrganization();
  const asked = await newOrganization({});
  const rows = await rowsOf(stored.organizationId);
  expect(rows).toEqual(await rowsOf(asked.organizationId));
  expect(Object.values(rows).map(({ length }) => length)).toEqual([1, 1, 1, 1, 3]);
});
