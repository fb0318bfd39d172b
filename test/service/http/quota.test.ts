import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { type Answer, admin, expectError, newChat, newOrganization, send } from "../../support/harness.ts";
import { REFUSED_BY_D1, refuseWrites } from "../../support/refused-writes.ts";
import { stopTheClock } from "../chats/object/delivery/conversation.ts";

stopTheClock();

/** A chat that has everything a request may change. */
async function place() {
  const organization = await newOrganization();
  const chat = await newChat(organization.api, organization.channelId);
  const message = await send(organization.api, chat.id);
  return { ...organization, chatId: chat.id, messageId: message.id };
}

type Place = Awaited<ReturnType<typeof place>>;

const WRITES: [name: string, request: (at: Place) => Promise<Answer>][] = [
  ["a send", ({ api, chatId }) => api("POST", `/chats/${chatId}/messages`, { content: "Hi" })],
  [
    "a scheduled send",
    ({ api, chatId }) => {
      const scheduledAt = new Date(Date.now() + 3_600_000).toISOString();
      return api("POST", `/chats/${chatId}/messages`, { content: "Hi", scheduledAt });
    },
  ],
  ["a new chat", ({ api, channelId }) => api("POST", "/chats", { channelId, contact: { address: "new" } })],
  ["a change of a chat", ({ api, chatId }) => api("PATCH", `/chats/${chatId}`, { name: "Ann" })],
  [
    "an upload",
    ({ api, chatId }) =>
      api("POST", `/chats/${chatId}/media`, "Hello", { "Content-Type": "text/plain", "Content-Length": "5" }),
  ],
  ["a redaction", ({ chatId, messageId }) => admin("POST", `/chats/${chatId}/messages/${messageId}/redact`)],
  ["a deletion", ({ chatId }) => admin("DELETE", `/chats/${chatId}`)],
  ["an act of the operator", ({ channelId }) => admin("PATCH", `/channels/${channelId}`, { name: "New" })],
  ["the deletion of a key", ({ keyId }) => admin("DELETE", `/keys/${keyId}`)],
];

test.each(WRITES)(
  "while the objects' writes are refused by the account's quota, %s is a 503",
  async (_name, request) => {
    const at = await place();
    await refuseWrites(env.CHATS.getByName(at.chatId));
    const answer = await request(at);
    vi.restoreAllMocks();
    expectError(answer, 503, "unavailable");
    expect(answer.headers.get("Retry-After")).not.toBeNull();
  },
);

test("what only reads works meanwhile, if the key needs no row", async () => {
  const { chatId } = await place();
  await refuseWrites(env.CHATS.getByName(chatId));
  const answer = await admin("GET", `/chats/${chatId}`);
  vi.restoreAllMocks();
  expect(answer.status).toBe(200);
});

test("while D1's statements are refused by the account's quota, requests that need it are a 503", async () => {
  const { organizationId, channelId } = await place();
  const statements = Object.getPrototypeOf(env.DB.prepare("select 1")) as D1PreparedStatement;
  const refuse = () => Promise.reject(new Error(REFUSED_BY_D1));
  for (const method of ["all", "run", "raw", "first"] as const) vi.spyOn(statements, method).mockImplementation(refuse);
  vi.spyOn(env.DB, "batch").mockImplementation(refuse);
  const answers = [
    await admin("GET", "/organizations"),
    await admin("GET", `/channels/${channelId}`),
    await admin("POST", `/organizations/${organizationId}/members`, { name: "Bob" }),
  ];
  vi.restoreAllMocks();
  for (const answer of answers) expectError(answer, 503, "unavailable");
});

test.each(["put", "get"] as const)(
  "while R2's %s is refused by the account's billing, an upload and its file are a 503",
  async (method) => {
    const { api, chatId } = await place();
    const headers = { "Content-Type": "text/plain", "Content-Length": "5" };
    const upload = () => api("POST", `/chats/${chatId}/media`, "Hello", headers);
    const { media } = (await upload()).body;
    const { id } = await send(api, chatId, { mediaId: media.id });
    vi.spyOn(env.MEDIA, method).mockRejectedValue(new Error("Your account is not allowed to use R2."));
    const answer = method === "put" ? await upload() : await api("GET", `/chats/${chatId}/messages/${id}/media`);
    vi.restoreAllMocks();
    expectError(answer, 503, "unavailable");
  },
);
