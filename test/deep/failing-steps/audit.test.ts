import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { type Answer, admin, send } from "../../support/harness.ts";
import { failEachStep, type Path } from "./every-step.ts";
import { type Place, placesOf, quietly } from "./fixtures.ts";
import { chatOnDisk, chatsOf, entriesOf, ring, rows } from "./looks.ts";

quietly();

type At = Place & { messageId: string; before: string };

/** The steps of the audit log itself. After one of them an entry may lack its status. */
const OF_LOG = /beginAct|endAct|audit|alarm/i;

/** An act on a resource. What a failure leaves of the resource itself is for the tests of its own path. */
function act(
  action: string,
  { run, look }: { run: (at: Place & { messageId: string }) => Promise<Answer>; look: (at: Place) => Promise<unknown> },
): Path<At, string> {
  const lookAt = async (at: Place) => JSON.stringify(await look(at));
  let last: string;
  return {
    place: async () => {
      // Its own organization: some steps are only in the first act of one.
      const at = await placesOf()();
      const { id: messageId } = await send(at.api, at.chatId);
      await ring(env.CHATS.getByName(at.chatId));
      return { ...at, messageId, before: await lookAt(at) };
    },
    act: run,
    look: async (at) => {
      last = await lookAt(at);
      return last === at.before ? "as before" : "changed";
    },
    between: () => true,
    repeated: [404],
    also: async (at, answer, { name }) => {
      const requestId = answer.headers.get("X-Request-Id");
      const entries = (await entriesOf(at.organizationId)).filter((entry) => entry.request_id === requestId);
      const [entry] = entries;
      if (entries.length > 1) return "more than one entry";
      if (!entry) return last === at.before && answer.status >= 500 ? null : `${answer.status} without an entry`;
      if (entry.action !== action) return `an entry of ${entry.action}`;
      if (entry.status === answer.status) return null;
      if (entry.status !== null) return `the status ${entry.status} in the entry of a ${answer.status}`;
      return OF_LOG.test(name) ? null : "no status, though the act ended";
    },
  };
}

const erased = async (at: Place) => (await chatsOf(at, at.address)).states;
const keyOf = ({ keyId }: Place) => env.DB.prepare("select hash from api_keys where id = ?").bind(keyId).first("hash");

test.each([
  [
    "key.create",
    {
      run: ({ organizationId, address }: Place) =>
        admin("POST", `/organizations/${organizationId}/keys`, { name: address }),
      look: async ({ address }: Place) => (await rows("api_keys", "name = ?", address)).length,
    },
  ],
  ["key.rotate", { run: ({ keyId }: Place) => admin("POST", `/keys/${keyId}/rotate`), look: keyOf }],
  [
    "channel.update",
    {
      run: ({ channelId }: Place) => admin("PATCH", `/channels/${channelId}`, { name: "Renamed" }),
      look: async ({ channelId }: Place) => (await rows("channels", "id = ?", channelId)).map(({ name }) => name),
    },
  ],
  ["chat.delete", { run: ({ chatId }: Place) => admin("DELETE", `/chats/${chatId}`), look: erased }],
  [
    "message.redact",
    {
      run: ({ chatId, messageId }: At) => admin("POST", `/chats/${chatId}/messages/${messageId}/redact`),
      look: async ({ chatId }: Place) => (await chatOnDisk(chatId)).messages,
    },
  ],
] as [string, Parameters<typeof act>[1]][])(
  "%s is never done without an entry, and the entry has the status unless it is lost, whichever step fails",
  async (action, path) => {
    const { names } = await failEachStep(act(action, path));
    expect(names).toEqual(expect.arrayContaining(["ORGANIZATIONS.beginAct", "ORGANIZATIONS.endAct"]));
  },
);
