import * as z from "zod";
import { CHANNEL_KINDS } from "../../channels/kinds.ts";
import type { channelStats, keyStats, labelStats, memberStats } from "../../management/stats.ts";
import type { channelHistory, keyHistory, memberHistory } from "../../management/stats-history.ts";
import {
  count,
  countOrNull,
  group,
  groupOrNull,
  groups,
  id,
  oneOf,
  resource,
  text,
  time,
  timeOrNull,
} from "../typed-schema.ts";
import { channelHealth } from "./resources.ts";

const attempts = group("How delivery attempts ended, with the names that the log uses", {
  sent: count.describe("The network accepted the message"),
  retry: count.describe("The network did not accept the message, and the service tries again"),
  failed: count.describe("The network refused the message permanently"),
  unknown: count.describe("The network did not respond, so the outcome is unknown"),
  moved: count.describe("The contact has another address, which is tried next"),
  channel_broken: count.describe("The network refused the channel itself"),
});

const refused = group("The number of refused requests by error code", {
  invalid_api_key: count.describe("The key was revoked or expired, or its secret was replaced"),
  ip_not_allowed: count.describe("The allow-list does not contain the client's address"),
  permission_denied: count.describe("The key lacked the permission"),
  rate_limited: count.describe("The window was used up"),
  quota_exceeded: count.describe("The month's quota was used up"),
});

const admitted = count.describe("The number of accepted requests, whatever their response");
const received = count.describe("The messages from contacts");

const handovers = group("How often people got a chat from its bot, by the reason", {
  bot_asked: count.describe("The bot handed it over"),
  asked: count.describe("Another client, or a person in the console, took it over"),
  took_over: count.describe("A person wrote"),
  bot_silent: count.describe("The bot left the contact without an answer for too long"),
  bot_gone: count.describe("The channel got another bot or none, or the bot's key ended"),
});

const responseTimes = group(
  "How long the first answers took. Each time is at most 20 % from the exact one, and below 5 seconds at most 3 seconds",
  {
    medianSeconds: countOrNull("Half of the answers came within this time, in seconds. Null: there were none"),
    p90Seconds: countOrNull("90 % of the answers came within this time, in seconds. Null: there were none"),
  },
);

const TIME_CLASSES = {
  within1m: count.describe("Less than 1 minute"),
  within5m: count.describe("1 minute to less than 5"),
  within15m: count.describe("5 minutes to less than 15"),
  within1h: count.describe("15 minutes to less than 1 hour"),
  within4h: count.describe("1 hour to less than 4"),
  within24h: count.describe("4 hours to less than 24"),
  later: count.describe("24 hours or more"),
};

/** What is counted of conversations. */
const conversation = {
  sent: count.describe("The messages to contacts, whatever became of them"),
  answers: count.describe("The first answers to contacts: the sum of `classes`"),
  classes: group(
    "The number of answers by response time: from the first unanswered message to the first answer",
    TIME_CLASSES,
  ),
  responseTimes,
};

export const channelStatsSchema = resource<ReturnType<typeof channelStats>>()(
  "ChannelStats",
  "How a channel delivers. Counts start when the channel is created, and never fall.",
  z.object({
    id: id("channel"),
    organizationId: id("organization"),
    kind: oneOf(CHANNEL_KINDS, "The kind of channel"),
    name: text("The channel's name"),
    health: group("Whether the channel works", {
      ...channelHealth,
      nextProbeAt: timeOrNull("When a broken channel is tried again"),
    }),
    queue: group("The messages that wait for delivery", {
      depth: count.describe("The number of messages that wait in all chats of the channel"),
      oldest: timeOrNull("The creation time of the oldest waiting message"),
      ageSeconds: countOrNull("The age of that message in seconds"),
    }),
    chats: count.describe("The number of the channel's chats now"),
    unanswered: count.describe("The number of chats now whose contact waits for an answer"),
    withBot: count.describe("The number of open chats that the channel's bot has now"),
    handovers,
    attempts,
    received,
    updatedAt: timeOrNull("When these numbers were written. Null before the first message"),
  }),
);

export const keyStatsSchema = resource<ReturnType<typeof keyStats>>()(
  "KeyStats",
  "How often a key was used. Counts start when the key is created, and never fall.",
  z.object({
    id: id("key"),
    organizationId: id("organization"),
    name: text("The key's name"),
    admitted,
    refused,
    updatedAt: timeOrNull("When these numbers were written. Null before the first request"),
  }),
);

export const memberStatsSchema = resource<ReturnType<typeof memberStats>>()(
  "MemberStats",
  "How many chats a member has now.",
  z.object({
    id: id("member"),
    organizationId: id("organization"),
    name: text("The member's name"),
    chats: count.describe("The number of chats now whose assignee is the member"),
    unanswered: count.describe("The number of these chats whose contact waits for an answer"),
  }),
);

export const labelStatsSchema = resource<ReturnType<typeof labelStats>>()(
  "LabelStats",
  "The chats that have a label now.",
  z.object({
    id: id("label"),
    name: text("The label's name"),
    chats: count.describe("The number of chats with the label"),
    counted: groupOrNull("What is counted of these chats. Null: there are more than 10,000", {
      open: count.describe("The number of these chats that are open"),
      snoozed: count.describe("The number that are snoozed"),
      closed: count.describe("The number that are closed"),
      unanswered: count.describe("The number whose contact waits for an answer, in whatever state"),
      received: count.describe("The messages from the contacts, since each chat began"),
      ...conversation,
    }),
  }),
);

const start = time("When the bucket starts");
const by = oneOf(["hour", "day"], "How long a bucket is, in UTC");

const history = <C extends z.ZodRawShape, W extends z.ZodRawShape>(what: string, counts: C, whole: W) =>
  z.object({
    id: id(what),
    organizationId: id("organization"),
    name: text(`The ${what}'s name`),
    by,
    ...whole,
    buckets: groups("Every hour or day of the window, oldest first", { start, ...counts }),
  });

export const channelHistorySchema = resource<ReturnType<typeof channelHistory>>()(
  "ChannelHistory",
  "What happened in a channel's chats, by the hour or the day.",
  history(
    "channel",
    {
      ...{ attempts, received, ...conversation },
      newChats: count.describe("The chats that began"),
      handovers,
      held: group(
        "The handovers by how long the bot had dealt with the contact: since it wrote to the bot first, or since the bot got the chat. A handover counts here if the contact wrote",
        TIME_CLASSES,
      ),
      prices: z
        .record(z.string(), z.int())
        .describe(
          "The messages by the category of their first `price`: `marketing`, `utility`, `service`, `authentication` and more, or `other`. A category without messages is absent",
        ),
    },
    { responseTimes },
  ),
);

export const memberHistorySchema = resource<ReturnType<typeof memberHistory>>()(
  "MemberHistory",
  "What a member did in chats, by the hour or the day. A message counts if the member's session sent it, or if the request named the member in `senderId`.",
  history(
    "member",
    {
      received: count.describe("The messages from contacts whose chat was assigned to the member"),
      ...conversation,
    },
    { responseTimes },
  ),
);

export const keyHistorySchema = resource<ReturnType<typeof keyHistory>>()(
  "KeyHistory",
  "How often a key was used, by the hour or the day.",
  history("key", { admitted, refused }, {}),
);
