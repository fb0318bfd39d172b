import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { pass } from "../../service/chats/object/delivery/conversation.ts";
import { held } from "../../service/management/erase-fixtures.ts";
import { breakObjects } from "../../support/faults.ts";
import { type Answer, admin, newChat, newOrganization, send } from "../../support/harness.ts";
import { storedChat } from "../../support/stored.ts";
import { ringAll, rung } from "./alarms.ts";
import { failEachStep, type Path } from "./every-step.ts";
import { newContact, quietly } from "./fixtures.ts";
import { chatOnDisk, chatsOf, ring } from "./looks.ts";

quietly();

/** An organization with a chat that the list shows, and a key that is in use. */
async function used() {
  const organization = await newOrganization();
  const contact = newContact();
  const { id: chatId } = await newChat(organization.api, organization.channelId, contact);
  const { id: messageId } = await send(organization.api, chatId);
  await admin("POST", `/organizations/${organization.organizationId}/replies`, { name: "Bye", content: "Bye" });
  await ring(env.CHATS.getByName(chatId));
  await env.ORGANIZATIONS.getByName(organization.organizationId).refresh();
  return { ...organization, contact, chatId, messageId };
}
type Used = Awaited<ReturnType<typeof used>>;
type Left = { rows: number[]; chats: Omit<Awaited<ReturnType<typeof chatsOf>>, "ids">; objects: string[] };

/** What is left of it in the directory, in its organization's object and in other objects. */
async function left(at: Used, objects: DurableObjectStub[]): Promise<Left> {
  const { organizationId, channelId, contact } = at;
  const owners = {
    organizations: "id",
    members: "organization_id",
    templates: "organization_id",
    replies: "organization_id",
    api_keys: "organization_id",
  };
  const found = await env.DB.batch<{ n: number }>([
    ...Object.entries(owners).map(([table, column]) =>
      env.DB.prepare(`select count(*) as n from ${table} where ${column} = ?`).bind(organizationId),
    ),
    env.DB.prepare("select count(*) as n from channels where id = ?").bind(channelId),
  ]);
  const { ids: _, ...chats } = await chatsOf(at, contact);
  return {
    rows: found.map(({ results }) => results[0]?.n ?? 0),
    chats,
    objects: (await held(objects)).filter((name) => !isPassing(name)).sort(),
  };
}

/** What an object keeps of its work. */
const isPassing = (name: string) =>
  ["changing", "counters", "floor", "health", "pace", "reported", "queueFloor", "record"].includes(name);

const chat = ({ chatId }: Used) => env.CHATS.getByName(chatId);
const channel = ({ channelId }: Used) => env.CHANNELS.getByName(channelId);
const organization = ({ organizationId }: Used) => env.ORGANIZATIONS.getByName(organizationId);
const key = ({ keyId }: Used) => env.KEYS.getByName(keyId);

/** While a row is left, the request can be repeated and continues. */
const canBeRepeated = ({ rows, chats }: Left) => rows.some((found) => found > 0) || chats.states.length > 0;

function erasing(act: (at: Used) => Promise<Answer>, look: (at: Used) => Promise<Left>): Path<Used, Left> {
  return { place: used, act, look, between: canBeRepeated, repeated: [404] };
}

test("a chat's deletion succeeds or can be repeated, whichever step fails", async () => {
  const { names } = await failEachStep(
    erasing(
      ({ chatId }) => admin("DELETE", `/chats/${chatId}`),
      (at) => left(at, [chat(at)]),
    ),
  );
  expect(names).toEqual(
    expect.arrayContaining(["ORGANIZATIONS.deleteChat", "CHATS.erase", "kv.put tombstone", "kv.put floor", "setAlarm"]),
  );
});

test("a channel's deletion succeeds or can be repeated, whichever step fails", async () => {
  const { names } = await failEachStep(
    erasing(
      ({ channelId }) => admin("DELETE", `/channels/${channelId}`),
      (at) => left(at, [chat(at), channel(at)]),
    ),
  );
  expect(names).toEqual(
    expect.arrayContaining([
      "ORGANIZATIONS.closeChannel",
      "ORGANIZATIONS.deleteClosed",
      "CHATS.erase",
      "CHANNELS.erase",
    ]),
  );
});

test.each([
  ["chat", ({ chatId }: Used) => `/chats/${chatId}`],
  ["channel", ({ channelId }: Used) => `/channels/${channelId}`],
] as const)(
  "the organization's alarm deletes the chats of an interrupted deletion of a %s, whichever step fails",
  async (_what, path) => {
    const { names } = await failEachStep<Used, Left>({
      place: async () => {
        const at = await used();
        const mend = breakObjects("CHATS", "erase");
        expect((await admin("DELETE", path(at))).status).toBe(503);
        mend();
        pass(60_000);
        return at;
      },
      act: ({ organizationId }) => rung("ORGANIZATIONS", organizationId),
      settle: ({ organizationId }) => ringAll("ORGANIZATIONS", organizationId),
      look: (at) => left(at, [chat(at)]),
    });
    expect(names).toEqual(expect.arrayContaining(["CHATS.erase", "kv.put tombstone", "kv.put floor"]));
  },
);

test("an organization's deletion succeeds or can be repeated, whichever step fails", async () => {
  const { names } = await failEachStep(
    erasing(
      ({ organizationId }) => admin("DELETE", `/organizations/${organizationId}`),
      (at) => left(at, [organization(at), chat(at), channel(at), key(at)]),
    ),
  );
  expect(names).toEqual(
    expect.arrayContaining(["KEYS.erase", "CHATS.erase", "CHANNELS.erase", "ORGANIZATIONS.erase", "deleteAll"]),
  );
});

test("a message is redacted in the chat and in the list of chats, or can be redacted again, whichever step fails", async () => {
  const { names } = await failEachStep<Used, { messages: string[]; listed: string | undefined }>({
    place: used,
    act: ({ chatId, messageId }) => admin("POST", `/chats/${chatId}/messages/${messageId}/redact`),
    look: async ({ organizationId, chatId }) => {
      const last_message = (await storedChat(organizationId, chatId))?.last_message;
      return {
        messages: (await chatOnDisk(chatId)).messages,
        listed: last_message ? JSON.parse(last_message).text : undefined,
      };
    },
    between: ({ messages, listed }, done) => messages.join() === done.messages.join() && listed === "Hello",
    repeated: [404],
  });
  expect(names).toEqual(expect.arrayContaining(["ORGANIZATIONS.report", "kv.put unreported 1"]));
  expect(names.some((name) => name.startsWith("update messages set doc = ?, template = null"))).toBe(true);
});
