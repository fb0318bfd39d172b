import { createChannel, createChat, createKey, createOrganization } from "../../../support/world/factories.ts";
import type { Place } from "./fixtures.ts";

/** A chat in a new organization, and the environment of a client that may write to it. `botToken` makes it a Telegram chat. */
export async function newChat({ world }: Place, botToken?: string) {
  const organization = await createOrganization(world);
  const channel = await createChannel(organization, botToken ? { kind: "telegram", credentials: { botToken } } : {});
  // With the default rate limit.
  const { id: keyId, secret } = await createKey(organization, { name: "Test", rateLimit: undefined });
  const { id: chatId } = await createChat(channel, { contact: { address: "7" } });
  const env = { PARLEY_API_KEY: secret };
  return { organization: organization.id, channel, channelId: channel.id, chatId, keyId, env };
}
