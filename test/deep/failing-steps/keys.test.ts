import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { pass } from "../../service/chats/object/delivery/conversation.ts";
import { admin, client, newChat, newOrganization, send } from "../../support/harness.ts";
import { neverRing } from "../../support/timers.ts";
import { failEachStep, type Path } from "./every-step.ts";
import { type Place, placesOf, quietly } from "./fixtures.ts";

quietly();

const COLUMNS = "revoked_at is not null as revoked, permissions, previous_hash is not null as overlaps, hash";

/** What the directory says of a key; of its hash only whether it is the one that it was made with. */
async function keyRow({ keyId, hash }: KeyPlace) {
  const row = await env.DB.prepare(`select ${COLUMNS} from api_keys where id = ?`).bind(keyId).first();
  return { ...row, hash: row?.hash === hash ? "as made" : "another" };
}

type KeyPlace = Place & { hash: string };

/** A change of a key that is in use: its object knows it. */
function changing(
  act: (place: KeyPlace) => ReturnType<typeof admin>,
  wanted: (row: object) => number,
): Path<KeyPlace, object> {
  const place = placesOf();
  return {
    place: async () => {
      const at = await place();
      expect((await at.api("GET", "/chats")).status).toBe(200);
      const hash = await env.DB.prepare("select hash from api_keys where id = ?").bind(at.keyId).first<string>("hash");
      return { ...at, hash: hash ?? "" };
    },
    act,
    look: keyRow,
    // Whatever the operator was answered: what the directory says counts with the very next request.
    also: async (at) => {
      const row = await keyRow(at);
      const { status } = await client(at.secret)("GET", "/chats");
      return status === wanted(row) ? null : `the next request was answered ${status} with ${JSON.stringify(row)}`;
    },
  };
}

const isIn = (row: object, what: string) => JSON.stringify(row).includes(what);

test("a key is refused once its revocation is confirmed, and accepted otherwise, whichever step fails", async () => {
  const revoke = ({ keyId }: Place) => admin("DELETE", `/keys/${keyId}`);
  const { names } = await failEachStep(changing(revoke, (row) => (isIn(row, '"revoked":1') ? 401 : 200)));
  expect(names).toEqual(expect.arrayContaining(["KEYS.beginChange", "kv.put changing", "KEYS.endChange"]));
  expect(names.some((name) => /^D1 .*update api_keys/.test(name))).toBe(true);
});

test("a removed permission is refused once the change is confirmed, whichever step fails", async () => {
  const narrow = ({ keyId }: Place) => admin("PATCH", `/keys/${keyId}`, { permissions: ["messages:send"] });
  const { names } = await failEachStep(changing(narrow, (row) => (isIn(row, "chats:read") ? 200 : 403)));
  expect(names).toEqual(expect.arrayContaining(["KEYS.beginChange", "KEYS.endChange"]));
});

test("a key has its old secret or a new one, whichever step of its rotation fails", async () => {
  const rotate = ({ keyId }: Place) => admin("POST", `/keys/${keyId}/rotate`);
  const path = changing(rotate, (row) => (isIn(row, "as made") ? 200 : 401));
  const { names } = await failEachStep({
    ...path,
    also: async (at, answer, step) => {
      const { status } = answer.status === 201 ? await client(answer.body.secret)("GET", "/chats") : { status: 200 };
      return status === 200 ? (path.also?.(at, answer, step) ?? null) : `the new secret was answered ${status}`;
    },
  });
  expect(names).toEqual(expect.arrayContaining(["KEYS.beginChange", "KEYS.endChange"]));
});

test("a removed member is not the default sender a minute after the response, whichever step fails", async () => {
  // After a second, a key's object takes the sender that it knows.
  neverRing(1_000);
  const left = async (memberId: string) =>
    Number(await env.DB.prepare("select count(*) as n from members where id = ?").bind(memberId).first("n"));
  const { names } = await failEachStep({
    place: async () => {
      const { organizationId, channelId, ownerId, api } = await newOrganization();
      pass(1);
      await admin("POST", `/organizations/${organizationId}/members`, { name: "Grace" });
      const { id: chatId } = await newChat(api, channelId);
      // The key's object knows who sends by default.
      expect((await send(api, chatId)).senderId).toBe(ownerId);
      return { ownerId, send: () => send(api, chatId) };
    },
    act: ({ ownerId }) => admin("DELETE", `/members/${ownerId}`),
    look: ({ ownerId }) => left(ownerId),
    repeated: [404],
    also: async (at) => {
      pass(60_000);
      const isSender = (await at.send()).senderId === at.ownerId;
      const isMember = (await left(at.ownerId)) === 1;
      return isSender === isMember ? null : `sender ${isSender}, member ${isMember}`;
    },
  });
  expect(names.filter((name) => name.startsWith("KEYS"))).toEqual([]);
});
