import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { expectAllErased, fullOrganization } from "../../../service/management/erase-fixtures.ts";
import { breakObjects, breakStatements, type Outage, outageError } from "../../../support/faults.ts";
import { admin, expectError } from "../../../support/harness.ts";

type Break = (outage: Outage) => void;
const refuseRows =
  (pattern: RegExp): Break =>
  (outage) =>
    breakStatements(outage, pattern);
/** The batch with this many statements: objects that read the directory meanwhile have other ones. */
const failBatch =
  (size: number): Break =>
  (outage) => {
    const batch = env.DB.batch.bind(env.DB);
    vi.spyOn(env.DB, "batch").mockImplementation((statements) =>
      statements.length === size ? Promise.reject(outageError(outage)) : batch(statements),
    );
  };

test.each<[string, Break]>([
  ["a key's object can't be erased", () => breakObjects("KEYS", "erase", (call) => call === 2)],
  ["the keys' rows can't be deleted", refuseRows(/^delete from "api_keys"/)],
  ["the second chat's object can't be reached", () => breakObjects("CHATS", "erase", (call) => call === 2)],
  ["the organization's object can't close its channels", () => breakObjects("ORGANIZATIONS", "close")],
  ["the organization's object can't delete its chats", () => breakObjects("ORGANIZATIONS", "deleteClosed")],
  ["the search index can't be erased", () => breakObjects("SEARCH_INDEXES", "erase")],
  ["the organization's object can't be erased", () => breakObjects("ORGANIZATIONS", "erase")],
  ["a channel's object can't be reached", () => breakObjects("CHANNELS", "erase", (call) => call === 2)],
  ["the channels' rows can't be deleted", refuseRows(/^delete from "channels"/)],
  ["the last rows can't be deleted", failBatch(5)],
])("a deletion that fails because %s is completed by repeating it", async (_name, breakIt) => {
  const full = await fullOrganization();
  breakIt("bare");
  const first = await admin("DELETE", `/organizations/${full.organizationId}`);
  vi.restoreAllMocks();
  expectError(first, 503, "unavailable");
  expect((await admin("DELETE", `/organizations/${full.organizationId}`)).status).toBe(200);
  await expectAllErased(full);
});
