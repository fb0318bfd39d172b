import { expect, test, vi } from "vitest";
import { app } from "../../../src/app.ts";
import { browser, codeOf, signIn, signInMember } from "../../support/console.ts";
import { watchSteps } from "../../support/faults.ts";
import { admin, created, expectError, newOrganization } from "../../support/harness.ts";
import { newManager } from "../management/manager.ts";

const ours = await newOrganization();
const operator = browser(await signIn());
const at = `/organizations/${ours.organizationId}`;
const newChat = () => ({ channelId: ours.channelId, contact: { address: crypto.randomUUID() }, metadata: {} });

async function entries(): Promise<unknown[]> {
  return (await admin("GET", `${at}/audit?action=chat.create`)).body.entries;
}

test("a chat that the operator creates in the console has an entry before it exists", async () => {
  const steps = watchSteps({ beginAct: () => () => Promise.reject(new Error("internal error")) });
  expectError(await operator("POST", `${at}/chats`, newChat()), 503, "unavailable");
  expect(steps).toEqual(["ORGANIZATIONS.beginAct"]);
  vi.restoreAllMocks();
  const { status, body } = await operator("POST", `${at}/chats`, newChat());
  expect(status).toBe(201);
  const actor = { type: "operator", id: "operator", name: "Operator" };
  const changed = ["channelId", "contact", "metadata"];
  expect(await entries()).toEqual([expect.objectContaining({ actor, target: body.chat.id, status: 201, changed })]);
});

test("a chat that a member or a key creates, which is what an organization does all day, has no entry", async () => {
  const before = await entries();
  const member = browser(await signInMember(ours.ownerId));
  expect((await member("POST", `${at}/chats`, newChat())).status).toBe(201);
  expect((await ours.api("POST", "/chats", newChat())).status).toBe(201);
  expect(await entries()).toEqual(before);
});

test("an entry names who made the sign-in link with which the member's session began", async () => {
  const { organizationId, ownerId, keyId, api } = await newManager();
  const at = `/organizations/${organizationId}`;
  const linkOf = { operator: admin, [keyId]: api };
  for (const [maker, link] of Object.entries(linkOf)) {
    const ask = browser(
      await signIn({ code: codeOf(created(await link("POST", `/members/${ownerId}/sign-in-link`))) }),
    );
    const { member } = created(await ask("POST", `${at}/members`, { name: "Eve" }));
    expect((await ask("GET", `${at}/chats?search=jose`)).status).toBe(200);
    expect((await ask("DELETE", `${at}/members/${member.id}`)).status).toBe(200);
    const { entries } = (await api("GET", `/audit?actor=${ownerId}`)).body;
    const acts = entries.filter(({ linkBy }: Record<string, unknown>) => linkBy === maker);
    // Not in an order: that of the log is the clock's.
    expect(acts.map(({ action, count }: Record<string, unknown>) => [action, count]).sort()).toEqual([
      ["chat.search", 1],
      ["member.create", 1],
      ["member.delete", 1],
    ]);
  }
  const { entries } = (await api("GET", `/audit?actor=${keyId}`)).body;
  expect(entries).toEqual([expect.objectContaining({ action: "member.sign_in_link", linkBy: null })]);
});

test("each route of the console that writes is a route of keys, the operator's or of a member's passkeys, so it has an entry", () => {
  const writing = (prefix: string, to: string) =>
    app.routes
      .filter(({ method, path }) => !["ALL", "GET"].includes(method) && path.startsWith(`${prefix}/`))
      .map(({ method, path }) => `${method} ${path.replace(prefix, to)}`);
  const inOrganizations = /^\w+ \/organizations(\/:id)?$/;
  const own = "/organizations/:organizationId";
  const ofPasskeys = ["POST /passkeys", "PATCH /passkeys/:id", "DELETE /passkeys/:id"];
  expect(new Set(writing("/console/api", ""))).toEqual(
    new Set([
      ...writing("/admin/v1", "").filter((route) => inOrganizations.test(route)),
      // People have no agents' tools.
      ...writing("/api/v1", own).filter((route) => !route.endsWith("/mcp")),
      ...ofPasskeys,
    ]),
  );
});
