import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { runAlarm } from "../../support/alarms.ts";
import { type Client, newChat, newOrganization } from "../../support/harness.ts";
import { pass } from "../chats/object/delivery/conversation.ts";
import { chatPlace } from "../chats/object/scheduled/fixtures.ts";

/** The messages of a search: the text of each, the newest first. */
export async function textsFound(api: Client, query: string): Promise<string[]> {
  const { status, body } = await api("GET", `/messages?${query}`);
  if (status !== 200) throw new Error(`The search is answered with ${status}: ${JSON.stringify(body)}`);
  return body.messages.map(({ message }: { message: { text: string } }) => message.text);
}

/** An organization whose messages can be searched, and what a test asks of it. */
export async function searchPlace(settings: object = {}) {
  const organization = await newOrganization({ search: { on: true }, ...settings });
  const { api, organizationId, channelId } = organization;
  const chats = new Set<string>();
  return {
    ...organization,
    object: () => env.ORGANIZATIONS.getByName(organizationId),
    /** A further chat. */
    chat: async (address?: string) => {
      const { id } = await newChat(api, channelId, address);
      chats.add(id);
      return { id, ...chatPlace(api, id) };
    },
    /** All chats have told the index what they said: each learns with its report that it is to tell, and then tells. */
    told: async () => {
      for (let rings = 0; rings < 3; rings++) {
        for (const id of chats) await runAlarm(env.CHATS.getByName(id));
        pass(3_000);
      }
    },
    found: (search: string, more = "") => textsFound(api, `search=${encodeURIComponent(search)}${more}`),
  };
}

/** How many messages an index has; the first one by default. */
export function indexed(organizationId: string, number = 1): Promise<number> {
  return runInDurableObject(
    env.SEARCH_INDEXES.getByName(`${organizationId}:${number}`),
    (_object, { storage }) => storage.sql.exec<{ n: number }>("select count(*) as n from messages").one().n,
  );
}
