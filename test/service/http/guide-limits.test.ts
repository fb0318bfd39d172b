import { expect, test } from "vitest";
import { MAX_CHANNEL_PER_SECOND } from "../../../src/channels/network/spec.ts";
import { LEAST_BYTES } from "../../../src/channels/object/upload-limit.ts";
import { MAX_ORIGINS } from "../../../src/channels/web/spec.ts";
import { MAX_IDEMPOTENCY_KEY } from "../../../src/chats/idempotency.ts";
import { MAX_OFFSET } from "../../../src/chats/list-chats.ts";
import { MAX_CHAT_ACTS } from "../../../src/chats/object/acts.ts";
import { MAX_ADDRESSES } from "../../../src/chats/object/contact-addresses.ts";
import { MAX_UNUSED_FILES } from "../../../src/chats/object/files/limits.ts";
import { MAX_EXAMINED } from "../../../src/chats/object/log/filtered-pages.ts";
import { MAX_BYTES as MAX_CHAT_BYTES, MAX_QUEUED } from "../../../src/chats/object/log/limits.ts";
import { MAX_SCHEDULED } from "../../../src/chats/object/scheduled/decisions.ts";
import { MAX_FRAMES_A_SECOND } from "../../../src/chats/object/visitors/frame-budget.ts";
import { MAX_FRAME } from "../../../src/chats/object/visitors/frames.ts";
import { MAX_IN_WINDOW } from "../../../src/chats/object/visitors/rate-limit.ts";
import { MAX_SOCKETS } from "../../../src/chats/object/visitors/visitor-sockets.ts";
import { MAX_EXAMINED_TEXT } from "../../../src/chats/search-budget.ts";
import { MAX_CHOICES, MAX_OF_ORGANIZATION } from "../../../src/console/member-rows.ts";
import { MAX_PASSKEYS } from "../../../src/console/passkeys/passkeys.ts";
import { REQUESTS_A_SECOND, REQUESTS_AT_ONCE } from "../../../src/console/session-pace.ts";
import { MAX_WAIT } from "../../../src/events/query.ts";
import { MAX_STREAM_CALLS, MAX_STREAM_EVENTS } from "../../../src/events/stream.ts";
import { MAX_IN_A_MINUTE } from "../../../src/http/abuse-limit.ts";
import { MAX_BODY } from "../../../src/http/validation.ts";
import { MAX_WARNING, MAX_WARNINGS } from "../../../src/http/warnings.ts";
import { MAX_CALL_BODY } from "../../../src/inbound/routes.ts";
import { MAX_WAITING_ACTS } from "../../../src/keys/waiting-acts.ts";
import { DEFAULT_MAX_KEYS, maxRows } from "../../../src/management/key-ceilings.ts";
import { MAX_PER_SECOND, MAX_RULES, MAX_WINDOW_SECONDS } from "../../../src/management/key-settings.ts";
import { MAX_SHOWN } from "../../../src/management/left-behind.ts";
import { MAX_OVERLAP_SECONDS } from "../../../src/management/overlap.ts";
import { MAX_RETENTION_DAYS } from "../../../src/management/retention.ts";
import { ACTOR_ROWS_A_DAY, MAX_ROW_BYTES, ORGANIZATION_ROWS_A_DAY } from "../../../src/model/audit.ts";
import { ERRORS, MAX_FAULTS } from "../../../src/model/error.ts";
import { MAX_FILE_BYTES } from "../../../src/model/file.ts";
import { MAX_LABELS, MAX_LABELS_OF_CHAT } from "../../../src/model/label.ts";
import { MAX_PAGE, MAX_PAGE_TEXT } from "../../../src/model/list-page.ts";
import { MAX_CONTENT, MAX_KEY, MAX_METADATA_BYTES, MAX_PAIRS, MAX_VALUE } from "../../../src/model/message.ts";
import { MAX_NOTES } from "../../../src/model/note.ts";
import { MAX_SESSION_STREAMS, MAX_STREAM_MS, MAX_STREAMS, ROW_CEILINGS } from "../../../src/model/organization.ts";
import { MAX_REPLIES } from "../../../src/model/reply.ts";
import { MAX_AHEAD_DAYS } from "../../../src/model/schedule.ts";
import { MAX_SEARCH } from "../../../src/model/search-text.ts";
import { MAX_NEW_CHATS, MAX_UPLOADED, MAX_VISITOR_FILE_BYTES } from "../../../src/model/visitor.ts";
import { MAX_WEBHOOK_URL } from "../../../src/model/webhook-url.ts";
import { MAX_STREAMS_OF_A_MEMBER, MAX_STREAMS_OF_A_SESSION } from "../../../src/organizations/object/doorbells.ts";
import { FEED_LIMITS, KEPT_MS } from "../../../src/organizations/object/feed-tables.ts";
import { MAX_ENDED } from "../../../src/organizations/object/member-records.ts";
import { MAX_FILTERS, MAX_WEBHOOK_OVERLAP_SECONDS, WEBHOOK_MOST } from "../../../src/webhooks/fields.ts";
import { HOST_CEILING } from "../../../src/webhooks/host-ceiling.ts";
import { KEPT_ATTEMPTS } from "../../../src/webhooks/object/attempt-log.ts";
import { CALL_TIMEOUT_MS, MAX_RESPONSE_BYTES } from "../../../src/webhooks/subscription/call-webhook.ts";
import { MAX_AGE_MS, MAX_RECENT } from "../../../src/webhooks/subscription/subscription.ts";
import { MAX_WEBHOOKS } from "../../../src/webhooks/webhook-rows.ts";
import { rows, section } from "./guide-texts.ts";

const DAY_MS = 86_400_000;

/** The ceilings by what they limit. */
const CEILINGS: Record<string, number> = {
  "Members of an organization": ROW_CEILINGS.members,
  "Templates of an organization": ROW_CEILINGS.templates,
  "Saved replies of an organization": MAX_REPLIES,
  "Labels of an organization": MAX_LABELS,
  "Labels of a chat": MAX_LABELS_OF_CHAT,
  "Channels of an organization": ROW_CEILINGS.channels,
  "`allowedOrigins` of a web channel": MAX_ORIGINS,
  "`perSecond` of a network's channel": MAX_CHANNEL_PER_SECOND,
  "`retentionDays` of a channel": MAX_RETENTION_DAYS,
  "Keys of an organization whose keys manage keys": DEFAULT_MAX_KEYS,
  "The same with the revoked keys of the last 31 days": maxRows(DEFAULT_MAX_KEYS),
  "Entries in a key's `ipAllowlist`": MAX_RULES,
  "Requests of a key for each second of its window": MAX_PER_SECOND,
  "Seconds of a key's window": MAX_WINDOW_SECONDS,
  "Seconds that the old secret of a key or a web channel stays valid": MAX_OVERLAP_SECONDS,
  "Entries in each list of `leftBehind`": MAX_SHOWN,
  "Sessions of a member that were signed out and are remembered": MAX_ENDED,
  "Passkeys of a member": MAX_PASSKEYS,
  "Members with the email of one person that the console offers": MAX_CHOICES,
  "Of these, members of one organization": MAX_OF_ORGANIZATION,
  "Characters of a message": MAX_CONTENT,
  "Pairs in `metadata`": MAX_PAIRS,
  "Characters of a key in `metadata`": MAX_KEY,
  "Characters of a value in `metadata`": MAX_VALUE,
  "Bytes of `metadata` as JSON": MAX_METADATA_BYTES,
  "Characters of an `Idempotency-Key`": MAX_IDEMPOTENCY_KEY,
  "Messages of a chat that wait for delivery": MAX_QUEUED,
  "Scheduled messages of a chat": MAX_SCHEDULED,
  "Notes of a chat": MAX_NOTES,
  "Days from now to `scheduledAt`": MAX_AHEAD_DAYS,
  "Bytes of a chat with all its messages": MAX_CHAT_BYTES,
  "Addresses of a contact": MAX_ADDRESSES,
  "Messages of a visitor per hour, and one per second": MAX_IN_WINDOW,
  "Open sockets of a visitor": MAX_SOCKETS,
  "Frames of a socket per second": MAX_FRAMES_A_SECOND,
  "Bytes of a frame": MAX_FRAME,
  "Bytes of a visitor's file": MAX_VISITOR_FILE_BYTES,
  "Bytes that a visitor uploads in an hour": MAX_UPLOADED.visitor,
  "Bytes that visitors of an IPv4 address or an IPv6 /64 upload in an hour": MAX_UPLOADED.network,
  "Bytes that visitors of an IPv6 /48 upload in an hour": MAX_UPLOADED.block,
  "Bytes that a channel's visitors upload in an hour": MAX_UPLOADED.channel,
  "New chats of visitors from an IPv4 address or an IPv6 /64 per minute": MAX_NEW_CHATS.network,
  "New chats of visitors from an IPv6 /48 per minute": MAX_NEW_CHATS.block,
  "New chats of a channel's visitors per minute": MAX_NEW_CHATS.channel,
  "Rows of a page (`limit`)": MAX_PAGE,
  "Chats before the last page of `GET /api/v1/chats`": MAX_OFFSET,
  "Rows that a filter or a search examines for a page": MAX_EXAMINED,
  "Characters of text that a search or a filter examines for a page": MAX_PAGE_TEXT,
  "Characters of text that searches and filters of a key or a member examine per minute": MAX_EXAMINED_TEXT,
  "Characters of a search": MAX_SEARCH,
  "Webhooks of an organization, each with another URL": MAX_WEBHOOKS,
  "Characters of a webhook's `url`": MAX_WEBHOOK_URL,
  "Entries in a webhook's `types` or `channels`": MAX_FILTERS,
  "`perSecond` of a webhook": WEBHOOK_MOST.perSecond,
  "`concurrency` of a webhook": WEBHOOK_MOST.concurrency,
  "Calls per second to one host by all webhooks of an organization": HOST_CEILING.perSecond,
  "Calls at a time to one host by all webhooks of an organization": HOST_CEILING.concurrency,
  "Replays of a webhook at a time": 1,
  "Seconds that the old secret of a webhook signs too": MAX_WEBHOOK_OVERLAP_SECONDS,
  "Seconds of a call to a webhook": CALL_TIMEOUT_MS / 1_000,
  "Bytes of a webhook's answer that are kept": MAX_RESPONSE_BYTES,
  "Kept attempts of a webhook": KEPT_ATTEMPTS,
  "Kept attempts of a chat of a webhook": MAX_RECENT,
  "Days that an event waits for a webhook": MAX_AGE_MS / DAY_MS,
  "Days that an event is in the list of events": KEPT_MS / DAY_MS,
  "Entries in the list of events that are older than a day": FEED_LIMITS.usual,
  "Entries in the list of events": FEED_LIMITS.most,
  "Reactions, read marks and typing indicators of a chat that wait for each other": MAX_CHAT_ACTS,
  [`Requests of a session of the console at once, and ${REQUESTS_A_SECOND} per second after them`]: REQUESTS_AT_ONCE,
  "Open streams of an organization's keys": MAX_STREAMS,
  "Open streams of an organization's people in the console": MAX_SESSION_STREAMS,
  "Open streams of one session": MAX_STREAMS_OF_A_SESSION,
  "Open streams of one member in the console": MAX_STREAMS_OF_A_MEMBER,
  "Seconds of one stream": MAX_STREAM_MS / 1_000,
  "Events of one stream": MAX_STREAM_EVENTS,
  "Calls within the service for one stream": MAX_STREAM_CALLS,
  "Seconds that a request waits for events (`wait`)": MAX_WAIT,
  "Entries of a key or a member in the audit log per day": ACTOR_ROWS_A_DAY,
  "Entries of an organization in the audit log per day": ORGANIZATION_ROWS_A_DAY,
  "Bytes of an entry in the audit log": MAX_ROW_BYTES,
  "Entries that wait for an audit log that fails": MAX_WAITING_ACTS,
  "Problems that a 400 lists": MAX_FAULTS,
  "Warnings in a response": MAX_WARNINGS,
  "Characters of a warning": MAX_WARNING,
  "Bytes of a body": MAX_BODY,
  "Bytes of a file": MAX_FILE_BYTES,
  "Files of a chat that no message names": MAX_UNUSED_FILES,
  "Bytes of a network's call": MAX_CALL_BODY,
  "Failed requests of an address per minute": MAX_IN_A_MINUTE,
};

test("a guide lists the ceilings as they are in the code, and the codes of what is beyond them", () => {
  const listed = rows(/./, section("errors-and-limits", "## Ceilings")).filter(([what]) => what !== "what");
  const shown = Object.entries(CEILINGS).map(([what, count]) => [what, count.toLocaleString("en")]);
  expect(listed.map(([what, count]) => [what, count])).toEqual(shown);
  const codes = listed.flatMap(([, , beyond = ""]) => beyond.match(/`\w+_\w+`/g) ?? []);
  expect(codes.filter((code) => !Object.hasOwn(ERRORS, code.replaceAll("`", "")))).toEqual([]);
  expect(codes).toEqual(expect.arrayContaining(limitCodes().map((code) => `\`${code}\``)));
});

/** The codes of errors that name a ceiling, but for the one that only the operator sets. */
const limitCodes = () => Object.keys(ERRORS).filter((code) => /_limit$/.test(code) && code !== "chat_limit");

test("a guide says what a stranger can use in an hour", () => {
  const { network, block, channel } = MAX_UPLOADED;
  const chats = [MAX_NEW_CHATS.network, MAX_NEW_CHATS.block, MAX_NEW_CHATS.channel].map((count) => count * 60);
  const bytes = [network, block, channel];
  const tries = bytes.map((most) => most / LEAST_BYTES);
  const text = section("errors-and-limits", "## What a stranger can use in an hour");
  const shown = (numbers: number[]) => numbers.map((number) => number.toLocaleString("en"));
  expect(rows(/^[A-Z]/, text)).toEqual([
    ["New chats", ...shown(chats)],
    ["Bytes of files", ...shown(bytes)],
    ["Tries to upload a file", ...shown(tries)],
  ]);
  for (const number of [MAX_IN_WINDOW, MAX_UPLOADED.visitor]) expect(text).toContain(number.toLocaleString("en"));
});
