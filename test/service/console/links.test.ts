import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { PERMISSIONS } from "../../../src/model/permission.ts";
import { newOperatorCode } from "../../../src/secrets/operator-code.ts";
import { browser, codeOf, OWN_PAGE, signIn } from "../../support/console.ts";
import { admin, call, created, expectError, newOrganization } from "../../support/harness.ts";
import { heldDatabase } from "../../support/held-database.ts";

const HOUR_MS = 3_600_000;

/** Tries to sign in with a code. */
function take(code: string, bindings?: Partial<Env>) {
  return call("POST", "/console/session", { body: { code }, headers: OWN_PAGE, ...(bindings && { bindings }) });
}

async function newLink(memberId: string): Promise<{ url: string; expiresAt: string }> {
  return created(await admin("POST", `/members/${memberId}/sign-in-link`));
}

async function rowOf(memberId: string) {
  return env.DB.prepare("select * from members where id = ?").bind(memberId).first();
}

test("a link signs its member in", async () => {
  const { organizationId, ownerId } = await newOrganization();
  const link = await newLink(ownerId);
  expect(link.url).toMatch(new RegExp(`^https://parley\\.test/console#code=${ownerId}\\.[0-9A-Za-z]{43}$`));
  expect(Date.parse(link.expiresAt) - Date.now()).toBeGreaterThan(23.9 * HOUR_MS);
  const { session } = (await browser(await signIn({ code: codeOf(link) }))("GET", "/session")).body;
  expect(session).toMatchObject({
    type: "member",
    member: { id: ownerId, name: "Ada" },
    organization: { id: organizationId },
    permissions: PERMISSIONS,
  });
});

test("a link works once, also for ten browsers at the same time", async () => {
  const { ownerId } = await newOrganization();
  const code = codeOf(await newLink(ownerId));
  const answers = await Promise.all(Array.from({ length: 10 }, () => take(code)));
  expect(answers.map(({ status }) => status).sort((one, other) => one - other)).toEqual([204, ...Array(9).fill(401)]);
  const again = await take(code);
  expectError(again, 401, "link_invalid");
  expect(again.headers.get("Set-Cookie")).toBeNull();
});

test("a link ends after 24 hours", async () => {
  const { ownerId } = await newOrganization();
  const code = codeOf(await newLink(ownerId));
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 24 * HOUR_MS + 1_000 });
  expectError(await take(code), 401, "link_invalid");
});

test("a new link replaces the one before it", async () => {
  const { ownerId } = await newOrganization();
  const [first, second] = [codeOf(await newLink(ownerId)), codeOf(await newLink(ownerId))];
  expectError(await take(first), 401, "link_invalid");
  expect((await take(second)).status).toBe(204);
});

test("a code signs in nobody but its member, and an altered one signs in nobody", async () => {
  const [ours, theirs] = [await newOrganization(), await newOrganization()];
  const code = codeOf(await newLink(ours.ownerId));
  await newLink(theirs.ownerId);
  const [, secret = ""] = code.split(".");
  for (const other of [
    `${theirs.ownerId}.${secret}`,
    `${code}x`,
    code.slice(0, -1),
    ours.ownerId,
    `${ours.ownerId}.`,
    "",
  ]) {
    expectError(await take(other), 401, "link_invalid");
  }
  expect((await take(code)).status).toBe(204);
});

test("only the hash of a link is stored, and a used link leaves nothing", async () => {
  const { ownerId } = await newOrganization();
  const code = codeOf(await newLink(ownerId));
  expect(JSON.stringify(await rowOf(ownerId))).not.toContain(code.split(".")[1]);
  await take(code);
  expect(await rowOf(ownerId)).toMatchObject({ sign_in_hash: null, sign_in_until: null });
});

test.each<[string, (memberId: string, organizationId: string) => Promise<unknown>]>([
  ["a change of the member", (id) => admin("PATCH", `/members/${id}`, { permissions: ["chats:read"] })],
  ["the end of the member's sessions", (id) => admin("DELETE", `/members/${id}/sessions`)],
  ["the member's removal", (id) => admin("DELETE", `/members/${id}`)],
  ["the organization's deletion", (_, id) => admin("DELETE", `/organizations/${id}`)],
])("a link does not survive %s", async (_, end) => {
  const { organizationId, ownerId } = await newOrganization();
  created(await admin("POST", `/organizations/${organizationId}/members`, { name: "Bea" }));
  const code = codeOf(await newLink(ownerId));
  await end(ownerId, organizationId);
  expectError(await take(code), 401, "link_invalid");
});

test("a code is not taken from the URL", async () => {
  const { ownerId } = await newOrganization();
  const { url } = await newLink(ownerId);
  const code = encodeURIComponent(codeOf({ url }));
  expect((await call("GET", `/console?code=${code}`, { headers: OWN_PAGE })).headers.get("Set-Cookie")).toBeNull();
  expectError(
    await call("POST", `/console/session?code=${code}`, { body: {}, headers: OWN_PAGE }),
    400,
    "validation_failed",
  );
  expect((await take(codeOf({ url }))).status).toBe(204);
});

test.each([[{}], [{ token: "a", code: "b" }], [{ token: 1 }], [{ code: ["b"] }]])("%j is no sign-in", async (body) => {
  expectError(await call("POST", "/console/session", { body, headers: OWN_PAGE }), 400, "validation_failed");
});

test("a code of the operator signs in once, and leaves only its hash until a minute after its end", async () => {
  const code = await newOperatorCode(env.ADMIN_TOKEN, Date.now());
  const answers = await Promise.all([take(code), take(code), take(code)]);
  expect(answers.map(({ status }) => status).sort((one, other) => one - other)).toEqual([204, 401, 401]);
  const stored = JSON.stringify((await env.DB.prepare("select * from used_codes").all()).results);
  expect(stored).not.toContain(code);
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + HOUR_MS + 61_000 });
  expect((await take(await newOperatorCode(env.ADMIN_TOKEN, Date.now()))).status).toBe(204);
  expect((await env.DB.prepare("select * from used_codes").all()).results).toHaveLength(1);
});

test("a code of the operator signs in once, also if the directory lets its repeat wait past the code's end", async () => {
  const now = Date.now();
  vi.useFakeTimers({ toFake: ["Date"], now });
  const code = await newOperatorCode(env.ADMIN_TOKEN, now);
  expect((await take(code)).status).toBe(204);
  vi.setSystemTime(now + HOUR_MS - 1_000);
  const bindings = heldDatabase(/^delete from "used_codes"/, async () => {
    vi.setSystemTime(now + HOUR_MS + 20_000);
    expect((await take(await newOperatorCode(env.ADMIN_TOKEN, Date.now()))).status).toBe(204);
  });
  expectError(await take(code, bindings), 401, "link_invalid");
});

test("a code of the operator that is over, too long, of another token or altered signs nobody in", async () => {
  const now = Date.now();
  const code = await newOperatorCode(env.ADMIN_TOKEN, now);
  const codes = [
    await newOperatorCode(env.ADMIN_TOKEN, now - HOUR_MS - 1),
    await newOperatorCode(env.ADMIN_TOKEN, now + HOUR_MS),
    await newOperatorCode("another token", now),
    code.replace(/operator\.(\d+)/, (_, until) => `operator.${Number(until) + 1}`),
    code.replace(/.$/, (last) => (last === "0" ? "1" : "0")),
    "operator.",
  ];
  for (const each of codes) expectError(await take(each), 401, "link_invalid");
  expectError(await take(code, { ADMIN_TOKEN: "rotated" }), 401, "link_invalid");
  expect((await take(code)).status).toBe(204);
});
