import { setTimeout as delay } from "node:timers/promises";
import type { Office } from "./fixtures.ts";
import { shown } from "./sizes.ts";
import type { StepCase, StepSizes } from "./step-cases.ts";
import { waitFor } from "./step-data.ts";
import type { StepPlace } from "./step-fixtures.ts";

const MARKS = "\u0301\u0323";
const DAY_MS = 86_400_000;

/** Cases about the messages of one chat. */
export function chatSteps({ messages, searched, length, seconds }: StepSizes): StepCase[] {
  const until = (isDone: () => Promise<boolean>) => waitFor(isDone, seconds);
  const search = (what: string, text: string): StepCase => ({
    name: "GET /chats/{id}/messages?search",
    data: `${shown(searched)} messages of ${shown(text.length)} ${what}`,
    async make(place) {
      const office = await place.office();
      await place.messages(office, searched, text);
      return (again) => again.request(`/api/v1/chats/${office.chatId}/messages?search=order`, office.secret);
    },
  });
  const inLongChat = (
    name: string,
    run: (place: StepPlace, office: Office, firstId: string) => Promise<unknown>,
    changes: Partial<StepCase> = {},
  ): StepCase => ({
    name,
    data: `a chat of ${shown(messages)} messages`,
    async make(place) {
      const office = await place.office();
      const old = new Date(Date.now() - 300 * DAY_MS).toISOString();
      const firstId = await place.messages(office, messages, null, old);
      return (again) => run(again, office, firstId);
    },
    ...changes,
  });
  return [
    search("marks", `x${MARKS.repeat(length / 2)}`),
    search("accents", "ễ".repeat(length)),
    search("letters that fold to eighteen", "\ufdfa".repeat(length)),
    {
      name: "GET /chats/{id}/messages?direction",
      data: `${shown(searched)} messages of ${shown(length)} characters`,
      async make(place) {
        const office = await place.office();
        await place.messages(office, searched, "漢".repeat(length));
        return (again) => again.request(`/api/v1/chats/${office.chatId}/messages?direction=INBOUND`, office.secret);
      },
    },
    inLongChat("GET /chats/{id}/messages?page", (place, { chatId, secret }) =>
      place.request(`/api/v1/chats/${chatId}/messages?page=${Math.ceil(messages / 20)}`, secret),
    ),
    inLongChat("POST /chats/{id}/messages", async (place, office) => {
      const { chatId, channel } = office;
      const senderId = channel.organization.memberId;
      await place.api(office, "POST", `/chats/${chatId}/messages`, { content: "Hello", senderId });
      await place.object("CHATS", chatId).ring();
    }),
    inLongChat(
      "POST /chats/{id}/messages/{id}/redact",
      (place, { chatId }, firstId) => place.admin("POST", `/chats/${chatId}/messages/${firstId}/redact`),
      { isOnce: true },
    ),
    inLongChat("GET /chats/{id}/export", (place, { chatId, secret }) =>
      Promise.race([place.request(`/api/v1/chats/${chatId}/export`, secret), delay(seconds * 1_000)]),
    ),
    inLongChat(
      "retention, alarm of a chat",
      async (place, { chatId, channel }) => {
        await place.admin("PATCH", `/channels/${channel.id}`, { retentionDays: 30 });
        const chat = place.object("CHATS", chatId);
        // Not a count, which would itself be a long step.
        const oldest = "select coalesce(min(seq), ?) as oldest from messages";
        await until(async () => Number((await chat.sql(oldest, messages))[0]?.oldest) > messages - 1_000);
      },
      { isOnce: true },
    ),
    inLongChat("DELETE /chats/{id}", (place, { chatId }) => place.admin("DELETE", `/chats/${chatId}`), {
      isOnce: true,
      allowed: 3_000,
    }),
  ];
}
