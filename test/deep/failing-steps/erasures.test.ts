import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { held } from "../../service/admin/erase-place.ts";
import { type Answer, admin, newChat, newOrganization, send } from "../../support/harness.ts";
import { failEachStep, type Path } from "./every-step.ts";
import { chatOnDisk } from "./looks.ts";
import { newContact, quietly } from "./places.ts";

quietly();

/** An organization with a chat, and a key that is in use. */
async function used() {
  const organization = await newOrganization();
  const { id: chatId } = await newChat(organization.api, organization.channelId, newContact());
  const { id: messageId } = await send(organization.api, chatId);
  return { ...organization, chatId, messageId };
}
type Used = Awaited<ReturnType<typeof used>>;
type Left = { rows: number[]; objects: string[] };

/** What there is of it in the directory, and in what objects of it hold. */
async function left({ organizationId, channelId, chatId }: Used, objects: DurableObjectStub[]): Promise<Left> {
  const owners = {
    organizations: "id",
    members: "organization_id",
    templates: "organization_id",
    api_keys: "organization_id",
  };
  const found = await env.DB.batch<{ n: number }>([
    ...Object.entries(owners).map(([table, column]) =>
      env.DB.prepare(`select count(*) as n from ${table} where ${column} = ?`).bind(organizationId),
    ),
    env.DB.prepare("select count(*) as n from channels where id = ?").bind(channelId),
    env.DB.prepare("select count(*) as n from chats where id = ?").bind(chatId),
    env.DB.prepare("select count(*) as n from chat_addresses where chat_id = ?").bind(chatId),
    env.DB.prepare("select chat_count as n from channels where id = ?").bind(channelId),
  ]);
  const rows = found.map(({ results }) => results[0]?.n ?? 0);
  return { rows, objects: (await held(objects)).filter((name) => !isPassing(name)).sort() };
}

/** What an object keeps of what it does just then. */
const isPassing = (name: string) => ["changing", "counters", "pace", "reported", "queueFloor", "record"].includes(name);

const chat = ({ chatId }: Used) => env.CHATS.getByName(chatId);
const channel = ({ channelId }: Used) => env.CHANNELS.getByName(channelId);
const key = ({ keyId }: Used) => env.KEYS.getByName(keyId);

/** While a row is left the request can be repeated, and then goes on where it broke off. */
const canBeRepeated = ({ rows }: Left) => rows.some((found) => found > 0);

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
  expect(names).toEqual(expect.arrayContaining(["CHATS.erase", "deleteAll", "kv.put erased", "setAlarm"]));
});

test("a channel's deletion succeeds or can be repeated, whichever step fails", async () => {
  const { names } = await failEachStep(
    erasing(
      ({ channelId }) => admin("DELETE", `/channels/${channelId}`),
      (at) => left(at, [chat(at), channel(at)]),
    ),
  );
  expect(names).toEqual(expect.arrayContaining(["CHATS.erase", "CHANNELS.erase"]));
});

test("an organization's deletion succeeds or can be repeated, whichever step fails", async () => {
  const { names } = await failEachStep(
    erasing(
      ({ organizationId }) => admin("DELETE", `/organizations/${organizationId}`),
      (at) => left(at, [chat(at), channel(at), key(at)]),
    ),
  );
  expect(names).toEqual(expect.arrayContaining(["KEYS.erase", "CHATS.erase", "CHANNELS.erase"]));
});

test("a message is redacted completely or not at all, whichever step fails", async () => {
  const { names } = await failEachStep<Used, string[]>({
    place: used,
    act: ({ chatId, messageId }) => admin("POST", `/chats/${chatId}/messages/${messageId}/redact`),
    look: async ({ chatId }) => (await chatOnDisk(chatId)).messages,
    repeated: [404],
  });
  expect(names.some((name) => name.startsWith("update messages set doc = ?, template = null"))).toBe(true);
});
