import { env } from "cloudflare:workers";
import { expect, vi } from "vitest";
import type { Message } from "../../../../../src/model/message.ts";
import { runAlarm } from "../../../../support/alarms.ts";
import { type Answer, admin, newChat, send } from "../../../../support/harness.ts";
import { untilStatus } from "../../../../support/message-status.ts";
import { storedBy } from "../../../../support/stored.ts";
import { report, writeAsContact } from "../../inbound.ts";
import { alarmOf, type Kind, pass } from "../delivery/conversation.ts";
import { DAY, scheduledPlace } from "../scheduled/fixtures.ts";

/** How many days the channel of a test keeps its messages. */
const DAYS = 30;

/** Sets how long a channel keeps its messages. */
export async function retain(channelId: string, retentionDays: number | null): Promise<void> {
  const answer = await admin("PATCH", `/channels/${channelId}`, { retentionDays });
  expect(answer.status, answer.text).toBe(200);
}

/** Rings an object's alarm as long as it is due. */
export async function ringDue(object: DurableObjectStub): Promise<void> {
  for (let rings = 0; rings < 50; rings++) {
    const at = await alarmOf(object);
    if (at === null || at > Date.now()) return;
    await runAlarm(object);
  }
  throw new Error("The alarm does not come to rest");
}

/** A chat of a channel that keeps its messages for 30 days, which the chat knows. */
export async function retainedPlace(kind: Kind | "web" = "web", days: number | null = DAYS) {
  const place = await scheduledPlace(kind);
  const { api, chatId, channelId, organizationId } = place;
  await retain(channelId, days);
  const organization = () => env.ORGANIZATIONS.getByName(organizationId);
  await report(chatId);
  const settle = async () => {
    for (const object of [place.object(), organization(), place.object()]) await ringDue(object);
  };
  return {
    ...place,
    organization,
    settle,
    /** Lets days pass, and everything happen that is due then. */
    passDays: async (count: number) => {
      pass(count * DAY);
      await settle();
    },
    get: (path = "", headers: Record<string, string> = {}) =>
      api("GET", `/chats/${chatId}/messages${path}`, undefined, headers),
    /** Sends messages, one after the other. */
    sendSome: async (...contents: string[]): Promise<Message[]> => {
      const sent: Message[] = [];
      for (const content of contents) sent.push(await send(api, chatId, { content }));
      return sent;
    },
    /** Waits until the network has accepted a message. A delivery goes on after the send and after an alarm. */
    delivered: (id = "") => untilStatus(chatId, id, "SENT"),
    write: (content: string) => writeAsContact(organizationId, chatId, content),
    chat: async () => (await api("GET", `/chats/${chatId}`)).body.chat,
    /** Everything that the chat's object and its organization's object store. */
    stored: async () => (await storedBy(place.object())) + (await storedBy(organization())),
    /** A further chat of the channel, which knows its retention. */
    anotherChat: async () => {
      const chat = await newChat(api, channelId);
      await report(chat.id);
      return chat;
    },
  };
}

export type RetainedPlace = Awaited<ReturnType<typeof retainedPlace>>;

/** The seqs of a page, and its numbers. */
export function pageOf({ body }: Answer) {
  return { seqs: body.messages.map(({ seq }: Message) => seq) as number[], ...body.pagination };
}

/** Moves the clock to an object's alarm. */
export async function toAlarmOf(object: DurableObjectStub): Promise<number> {
  const at = await alarmOf(object);
  expect(at).not.toBeNull();
  vi.setSystemTime(Math.max(Date.now(), at ?? 0));
  return at ?? 0;
}
