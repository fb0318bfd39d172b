import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { unavailable } from "../../../src/model/error.ts";
import { breakObjects, breakStatements, OUTAGES, outageError } from "../../support/faults.ts";
import { admin, client, expectError, newKey, newOrganization } from "../../support/harness.ts";

const CANARY = "canary-7f3a";

/** Everything that is logged from here on, as text, except audit lines, which contain the id of the path. */
function logged(): () => string {
  const spies = (["error", "warn", "log"] as const).map((level) => vi.spyOn(console, level).mockReturnValue());
  const isAudit = ([line]: unknown[]) => (line as { event?: string }).event === "audit";
  return () => JSON.stringify(spies.flatMap((spy) => spy.mock.calls.filter((call) => !isAudit(call))));
}

test.each<[string, object]>([
  ["members", { name: CANARY, email: `${CANARY}@acme.test` }],
  ["keys", { name: CANARY, ipAllowlist: ["192.0.2.77"] }],
  [
    "templates",
    { name: CANARY, language: "en", body: `${CANARY}\nparams: ${CANARY}\n    at ${CANARY} (index.js:1:1)` },
  ],
])("a failed statement that adds to %s is logged with its cause and without its parameters", async (list, body) => {
  const { organizationId } = await newOrganization();
  breakStatements("bare", /^insert/);
  const lines = logged();
  expectError(await admin("POST", `/organizations/${organizationId}/${list}`, body), 503, "unavailable");
  expect(lines()).toContain("Failed query: insert into");
  expect(lines()).toContain("caused by Error: Network connection lost.");
  expect(lines()).toMatch(/\\n +at /);
  for (const told of [CANARY, "192.0.2.77", organizationId, "params:"]) expect(lines()).not.toContain(told);
});

test.each(OUTAGES)(
  "a failed read of a key during an outage of the directory is logged with the cause and without the parameters (%s error)",
  async (outage) => {
    const { organizationId } = await newOrganization();
    const { secret } = await newKey(organizationId);
    breakStatements(outage, /api_keys/);
    const lines = logged();
    expectError(await client(secret)("GET", "/key"), 503, "unavailable");
    expect(lines()).toContain("Failed query: select");
    expect(lines()).toContain(`caused by Error: ${outageError(outage).message}`);
    expect(lines()).not.toContain("params:");
  },
);

test("if an object can't be told of a change, the platform's error is logged", async () => {
  const { keyId } = await newOrganization();
  breakObjects("KEYS", "beginChange");
  const lines = logged();
  expectError(await admin("DELETE", `/keys/${keyId}`), 503, "unavailable");
  expect(lines()).toContain("Network connection lost.");
});

test("a fault in an object's own code is a 500 without Retry-After", async () => {
  const { api } = await newOrganization();
  vi.spyOn(env.DB, "prepare").mockImplementation(() => {
    throw new TypeError("the canary sang");
  });
  const lines = logged();
  const answer = await api("GET", "/key");
  expectError(answer, 500, "internal_error", /^Internal error$/);
  expect(answer.headers.get("Retry-After")).toBeNull();
  expect(lines()).toContain("TypeError: the canary sang");
});

test("a wrong statement inside an object is a 500", async () => {
  const { api } = await newOrganization();
  const prepare = env.DB.prepare.bind(env.DB);
  vi.spyOn(env.DB, "prepare").mockImplementation(() => prepare("select no_such_column"));
  logged();
  expectError(await api("GET", "/key"), 500, "internal_error");
});

test("an object without its configuration is a 503, and the log names the variable", async () => {
  const { api } = await newOrganization();
  vi.spyOn(env.DB, "prepare").mockImplementation(() => {
    throw unavailable("configuration: KEY_SECRET is required");
  });
  const lines = logged();
  expectError(await api("GET", "/key"), 503, "unavailable");
  expect(lines()).toContain("configuration: KEY_SECRET is required");
});
