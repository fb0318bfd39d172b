import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { pass } from "../../service/chats/object/delivery/conversation.ts";
import { breakObjects } from "../../support/faults.ts";
import { rung } from "./alarms.ts";
import { failEachStep, type Path } from "./every-step.ts";
import { newContact, type Place, placesOf, quietly } from "./fixtures.ts";
import { chatOnDisk, chatsOf, ring } from "./looks.ts";

quietly();

type Contact = Place & { contact: string };

/** The chats of a contact as the organization's object has them, and whether their own objects know who they are. */
async function lookAt(at: Contact) {
  const { ids, ...known } = await chatsOf(at, at.contact);
  const owners = await Promise.all(ids.map((id) => env.CHATS.getByName(id).owner()));
  return { ...known, isAdopted: owners.map((owner) => owner !== null) };
}

type Stored = Awaited<ReturnType<typeof chatOnDisk>>;
type Look = Awaited<ReturnType<typeof lookAt>>;

/** Lets the organization's alarm adopt what was created a minute ago. */
async function adopt({ organizationId }: Place): Promise<void> {
  pass(60_000);
  await ring(env.ORGANIZATIONS.getByName(organizationId));
}

function creating(): Path<Contact, Look> {
  const place = placesOf();
  return {
    place: async () => {
      const at = { ...(await place()), contact: newContact() };
      // The alarm for the chat of the place itself is done.
      await adopt(at);
      await env.ORGANIZATIONS.getByName(at.organizationId).refresh();
      return at;
    },
    settle: adopt,
    act: ({ api, channelId, contact }) => api("POST", "/chats", { channelId, contact: { address: contact } }),
    look: lookAt,
  };
}

test("a contact has one chat with its address and its count, or none, whichever step of its creation fails", async () => {
  const { names } = await failEachStep<Contact, Look>({
    ...creating(),
    // The row has no alarm. The next call sets it.
    between: ({ states, isAdopted }) => states.join() === "created" && isAdopted.join() === "false",
  });
  expect(names).toEqual(
    expect.arrayContaining(["ORGANIZATIONS.open", "CHATS.adopt", "kv.put lean", "transactionSync", "setAlarm"]),
  );
  for (const statement of ["insert into chats", "insert into addresses", "update channels set chats"]) {
    expect(names.filter((name) => name.startsWith(statement))).toHaveLength(1);
  }
});

test("a chat whose creation was interrupted is adopted by the organization's alarm, whichever step fails", async () => {
  const path = creating();
  const { names } = await failEachStep<Contact, Look>({
    place: async () => {
      const at = await path.place();
      const mend = breakObjects("CHATS", "adopt");
      expect((await path.act(at)).status).toBe(503);
      mend();
      pass(60_000);
      return at;
    },
    act: async ({ organizationId }) => rung("ORGANIZATIONS", organizationId),
    settle: adopt,
    look: lookAt,
  });
  expect(names).toEqual(expect.arrayContaining(["CHATS.adopt", "kv.put lean", "setAlarm"]));
});

test("a send to a chat whose creation was interrupted is stored or not, whichever step fails", async () => {
  const path = creating();
  const { names } = await failEachStep<Contact & { id: string }, Stored>({
    place: async () => {
      const at = await path.place();
      const mend = breakObjects("CHATS", "adopt");
      expect((await path.act(at)).status).toBe(503);
      mend();
      const [id] = (await chatsOf(at, at.contact)).ids;
      return { ...at, id: id ?? "" };
    },
    act: ({ api, id }) => api("POST", `/chats/${id}/messages`, { content: "Hello" }, { "Idempotency-Key": "once" }),
    look: ({ id }) => chatOnDisk(id),
    // The chat is adopted, and its alarm reports that. Or the message is stored, but no alarm reports it to the list of
    // chats. The next call does.
    between: ({ messages, alarm }) => messages.length === 0 || (messages.length === 1 && !alarm),
  });
  expect(names).toEqual(
    expect.arrayContaining(["CHATS.send", "ORGANIZATIONS.identity", "kv.put lean", "transactionSync", "setAlarm"]),
  );
});
