import { afterEach, expect, test, vi } from "vitest";
import { app } from "../../../src/app.ts";
import { browser, signIn, signInMember } from "../../support/console.ts";
import { watchSteps } from "../../support/faults.ts";
import { admin, expectError, newOrganization } from "../../support/harness.ts";

const ours = await newOrganization();
const operator = browser(await signIn());
const at = `/organizations/${ours.organizationId}`;
const newChat = () => ({ channelId: ours.channelId, contact: { address: crypto.randomUUID() }, metadata: {} });

afterEach(() => {
  vi.restoreAllMocks();
});

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

test("each route of the console that writes is a route of keys or one of the operator's, so it has their entry", () => {
  const writing = (prefix: string, to: string) =>
    app.routes
      .filter(({ method, path }) => !["ALL", "GET"].includes(method) && path.startsWith(`${prefix}/`))
      .map(({ method, path }) => `${method} ${path.replace(prefix, to)}`);
  const inOrganizations = /^\w+ \/organizations(\/:id)?$/;
  const own = "/organizations/:organizationId";
  expect(new Set(writing("/console/api", ""))).toEqual(
    new Set([...writing("/admin/v1", "").filter((route) => inOrganizations.test(route)), ...writing("/api/v1", own)]),
  );
});
