import { vi } from "vitest";
import type { Message } from "../../../../../src/model/message.ts";
import { newOrganization } from "../../../../support/harness.ts";
import { newToken, objectOf } from "../../../../support/sockets.ts";

/** Moves the clock forward, beyond the limit of one message a second. */
export function later(ms = 1_000): void {
  vi.setSystemTime(Date.now() + ms);
}

/** A web channel and a new visitor. */
export async function newVisitor() {
  const organization = await newOrganization();
  const token = newToken();
  const object = await objectOf(organization.channelId, token);
  const messages = async (chatId: string, query = "?limit=100"): Promise<Message[]> =>
    (await organization.api("GET", `/chats/${chatId}/messages${query}`)).body.messages.reverse();
  return { ...organization, token, object, messages };
}
