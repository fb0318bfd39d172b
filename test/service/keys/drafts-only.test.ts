import { expect, test } from "vitest";
import { PERMISSIONS } from "../../../src/model/permission.ts";
import { needOf } from "../../../src/openapi/permissions.ts";
import { DOCUMENTS } from "../../support/documents.ts";
import { admin, client, created, expectError, newChat, newKey, newOrganization, send } from "../../support/harness.ts";
import { newManager } from "../management/manager.ts";

/** The routes for which `messages:send` is needed, and which reach nobody. */
const REACHES_NOBODY = ["POST /chats/{id}/media", "GET /replies", "POST /channels/{id}/identity-secret"];

/** What a key needs for each route of the public document. */
const NEEDS = Object.entries(DOCUMENTS.public.paths).flatMap(([path, { servers, ...operations }]) =>
  servers
    ? []
    : Object.keys(operations).map((method) => ({ method: method.toUpperCase(), path, need: needOf(method, path) })),
);

test("only these routes with messages:send reach nobody", () => {
  const found = NEEDS.filter(({ need }) => need === "messages:send" || need === "channels:identity");
  expect(found.map(({ method, path }) => `${method} ${path}`).sort()).toEqual([...REACHES_NOBODY].sort());
});

test("every route that reaches a contact refuses a key with draftsOnly, and counts nothing", async () => {
  const { api, organizationId, channelId } = await newOrganization();
  const chat = await newChat(api, channelId);
  const message = await send(api, chat.id);
  const { secret, key } = await newKey(organizationId, { permissions: [...PERMISSIONS], draftsOnly: true });
  expect(key.draftsOnly).toBe(true);
  const draftsOnly = client(secret);
  const reaching = NEEDS.filter(({ need }) => need === "contact:reach");
  expect(reaching).toHaveLength(8);
  for (const { method, path } of reaching) {
    const at = path.replace("{id}", chat.id).replace("{messageId}", message.id);
    const answer = await draftsOnly(method, at, method === "DELETE" ? undefined : { content: "Hi", emoji: "👍" });
    expectError(answer, 403, "drafts_only", /draftsOnly/);
    expect(answer.body, path).toHaveProperty("message");
    expect(answer.headers.get("X-RateLimit-Remaining"), path).toBe("300");
  }
  const { pagination } = (await api("GET", `/chats/${chat.id}/messages`)).body;
  expect(pagination.total).toBe(1);
  expect((await draftsOnly("GET", `/chats/${chat.id}`)).status).toBe(200);
  expect((await draftsOnly("GET", "/key")).body).toMatchObject({ key: { draftsOnly: true }, usage: { used: 2 } });
});

test("a key without the permission is told of that first", async () => {
  const { api, organizationId, channelId } = await newOrganization();
  const chat = await newChat(api, channelId);
  const { secret } = await newKey(organizationId, { permissions: ["chats:read"], draftsOnly: true });
  const answer = await client(secret)("POST", `/chats/${chat.id}/messages`, { content: "Hi" });
  expectError(answer, 403, "permission_denied", /permission messages:send/);
});

test("draftsOnly takes effect, and ends, with the key's next request", async () => {
  const { api, keyId, channelId } = await newOrganization();
  const chat = await newChat(api, channelId);
  const path = `/chats/${chat.id}/messages`;
  for (let round = 0; round < 2; round++) {
    expect((await admin("PATCH", `/keys/${keyId}`, { draftsOnly: true })).body.key.draftsOnly).toBe(true);
    expectError(await api("POST", path, { content: "Hi" }), 403, "drafts_only");
    const after = await admin("PATCH", `/keys/${keyId}`, { draftsOnly: round === 0 ? false : null });
    expect(after.body.key.draftsOnly).toBe(false);
    created(await api("POST", path, { content: "Hi" }));
  }
});

test("a key with draftsOnly lets no member send", async () => {
  const { organizationId, ownerId, api } = await newManager({ draftsOnly: true });
  const more = { name: "Mia", permissions: ["chats:read", "messages:send"] };
  expectError(await api("POST", "/members", more), 403, "permission_denied", /messages:send/);
  const { member } = created(await api("POST", "/members", { ...more, permissions: ["chats:read"] }));
  expectError(await api("PATCH", `/members/${member.id}`, more), 403, "permission_denied");
  await admin("PATCH", `/members/${ownerId}`, { permissions: ["messages:send"] });
  expectError(await api("POST", `/members/${ownerId}/sign-in-link`), 403, "permission_denied");
  created(await api("POST", `/members/${member.id}/sign-in-link`));
  expect((await admin("GET", `/organizations/${organizationId}/members`)).body.members).toHaveLength(2);
});
