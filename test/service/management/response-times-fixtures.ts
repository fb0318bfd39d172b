import { admin, created, newChat, newOrganization, send } from "../../support/harness.ts";
import { report, writeAsContact } from "../chats/inbound.ts";
import { conversationSums } from "./conversation-sums.ts";

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;

/** No answer in any class of response times. */
export const NO_CLASSES = { within1m: 0, within5m: 0, within15m: 0, within1h: 0, within4h: 0, within24h: 0, later: 0 };

/** A chat of a web channel with two members, and what is counted. */
export async function desk() {
  const organization = await newOrganization();
  const { organizationId, channelId, api } = organization;
  const { id: chatId } = await newChat(api, channelId);
  const member = async (name: string): Promise<string> =>
    created(await admin("POST", `/organizations/${organizationId}/members`, { name })).member.id;
  return {
    ...organization,
    ...{ chatId, ann: await member("Ann"), bob: await member("Bob") },
    write: () => writeAsContact(organizationId, chatId),
    send: (body: object = {}) => send(api, chatId, { ...body }),
    assign: (assigneeId: string | null) => api("PATCH", `/chats/${chatId}`, { assigneeId }),
    report: () => report(chatId),
    /** The sums over the last 48 hours, without those that are 0. */
    sums: async (of: string) => {
      await report(chatId);
      return conversationSums(of);
    },
  };
}
