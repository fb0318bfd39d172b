import type { Place } from "./place.ts";

type Created = { id: string };

/** An organization of a test's own, with a member. */
export async function newOrganization(place: Place): Promise<string> {
  const body = { name: "Acme", owner: { name: "Ann" } };
  return (await place.operator<{ organization: Created }>("/organizations", body)).organization.id;
}

/** A channel of it: the web's, unless a bot's token is given. */
export async function newChannel(place: Place, organization: string, botToken?: string): Promise<Created> {
  const body = botToken ? { kind: "telegram", name: "Desk", credentials: { botToken } } : { kind: "web", name: "Desk" };
  return (await place.operator<{ channel: Created }>(`/organizations/${organization}/channels`, body)).channel;
}

/** A chat of an organization of its own, and the environment of a client who may write in it. */
export async function newChat(place: Place, botToken?: string) {
  const organization = await newOrganization(place);
  const of = `/organizations/${organization}`;
  const channel = await newChannel(place, organization, botToken);
  const { key, secret } = await place.operator<{ key: Created; secret: string }>(`${of}/keys`, { name: "Test" });
  const contact = { address: "7" };
  const { chat } = await place.operator<{ chat: Created }>(`${of}/chats`, { channelId: channel.id, contact });
  return { organization, channelId: channel.id, chatId: chat.id, keyId: key.id, env: { PARLEY_API_KEY: secret } };
}
