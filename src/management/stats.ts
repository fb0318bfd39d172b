import * as z from "zod/mini";
import { callOrganization } from "../calls/call-organization.ts";
import { directory } from "../db/client.ts";
import { listRows, rowOf } from "../db/rows.ts";
import { apiKeys, channels, members, organizations } from "../db/schema.ts";
import { pageQuery } from "../http/pagination.ts";
import { noOrganization, type Scope } from "../model/caller.ts";
import type { ConversationCounts } from "../model/conversation-counts.ts";
import type { Counts } from "../model/counts.ts";
import { ApiError } from "../model/error.ts";
import { atMost, notEmpty, queryText } from "../model/field.ts";
import { HANDED_OVER } from "../model/handover.ts";
import { pagination } from "../model/list-page.ts";
import type {
  AssignedChats,
  AttemptCounts,
  ChannelCounts,
  ChannelNumbers,
  KeyNumbers,
  LabelNumbers,
} from "../model/organization.ts";
import { pick } from "../model/pick.ts";
import { RESPONSE_CLASSES, type ResponseClass, responseTimes } from "../model/response-time.ts";
import { isoTimeOrNull } from "../model/time.ts";
import { presentHealth } from "./present-channel.ts";

/** The query of `GET /stats`. */
export const ownStatsQuery = z.extend(pageQuery, { label: queryText(64) });

/** The operator's query. The numbers are in the objects of organizations, so it names one. */
export const statsQuery = z.extend(ownStatsQuery, { organization: z.string().check(notEmpty, ...atMost(64)) });

export const NO_ATTEMPTS = { sent: 0, retry: 0, failed: 0, unknown: 0, moved: 0, channel_broken: 0 };
export const NO_REFUSALS = {
  invalid_api_key: 0,
  ip_not_allowed: 0,
  permission_denied: 0,
  rate_limited: 0,
  quota_exceeded: 0,
};

/**
 * The numbers of an organization's channels, keys and members, oldest first, in one call of its object, and those of a
 * label in another. `page` and `limit` apply to each list, and `pagination` describes the longest one.
 * @throws ApiError as `noOrganization`; `label_not_found`
 */
export async function readStats(env: Env, scope: Scope, id: string, query: z.output<typeof ownStatsQuery>) {
  const { label, ...page } = query;
  const db = directory(env);
  await rowOf(db, scope, organizations, id, noOrganization(scope));
  const ofOrganization = { organizationId: id };
  const [ofChannels, ofKeys, ofMembers] = await Promise.all([
    listRows(db, ofOrganization, channels, page),
    listRows(db, ofOrganization, apiKeys, page),
    listRows(db, ofOrganization, members, page),
  ]);
  const numbers = await callOrganization(env, id, (organization) =>
    organization.numbers(idsOf(ofChannels), idsOf(ofKeys), idsOf(ofMembers)),
  );
  const labeled = label === undefined ? undefined : await readLabelStats(env, id, label);
  const now = Date.now();
  return {
    ...(labeled && { label: labeled }),
    channels: ofChannels.rows.map((row) => channelStats(row, byId(numbers.channels, row.id), now)),
    keys: ofKeys.rows.map((row) => keyStats(row, byId(numbers.keys, row.id))),
    members: ofMembers.rows.map((row) => memberStats(row, byId(numbers.members ?? [], row.id))),
    pagination: pagination({
      ...page,
      total: Math.max(...[ofChannels, ofKeys, ofMembers].map((list) => list.pagination.total)),
    }),
  };
}

async function readLabelStats(env: Env, organizationId: string, id: string) {
  const numbers = await callOrganization(env, organizationId, (organization) => organization.labelNumbers(id));
  if (!numbers) throw new ApiError("label_not_found");
  return labelStats(numbers);
}

export function labelStats({ counted, ...label }: LabelNumbers) {
  return { ...label, counted: counted && ofLabeled(counted) };
}

function ofLabeled({ counts, ...chats }: NonNullable<LabelNumbers["counted"]>) {
  return { ...chats, ...conversation(counts) };
}

export function channelStats(row: typeof channels.$inferSelect, numbers: ChannelNumbers | undefined, now: number) {
  const oldest = numbers?.oldest ?? null;
  const health = numbers?.health ?? null;
  return {
    ...pick(row, "id", "organizationId", "kind", "name"),
    health: { ...presentHealth(row, numbers), nextProbeAt: isoTimeOrNull(health?.probeAt) },
    queue: {
      depth: numbers?.depth ?? 0,
      oldest: isoTimeOrNull(oldest),
      ageSeconds: oldest === null ? null : Math.max(0, Math.floor((now - oldest) / 1_000)),
    },
    chats: numbers?.chats ?? 0,
    unanswered: numbers?.unanswered ?? 0,
    withBot: numbers?.withBot ?? 0,
    handovers: handoversOf(numbers?.attempts ?? {}),
    attempts: attemptsOf(numbers?.attempts ?? {}),
    received: numbers?.attempts.received ?? 0,
    updatedAt: isoTimeOrNull(numbers?.at),
  };
}

const NO_CLASSES = Object.fromEntries(Object.keys(RESPONSE_CLASSES).map((name) => [name, 0])) as Record<
  ResponseClass,
  number
>;

/** The messages, and the answers by their response times. */
export function conversation(counts: ConversationCounts) {
  const { received = 0, messages: sent = 0 } = counts;
  const classes = withZeros(NO_CLASSES, counts);
  const answers = Object.values(classes).reduce((sum, count) => sum + count, 0);
  return { received, sent, answers, classes, responseTimes: responseTimes(counts) };
}

/** How many attempts ended with each outcome. */
export function attemptsOf(counts: ChannelCounts): Required<AttemptCounts> {
  return withZeros(NO_ATTEMPTS, counts);
}

/** How often people got a chat from its bot, by the reason. */
export function handoversOf(counts: ChannelCounts) {
  return countsOf("handover", HANDED_OVER, counts);
}

/** How often people got a chat from its bot, by how long the bot had dealt with its contact. */
export function heldOf(counts: ChannelCounts) {
  return countsOf("held", Object.keys(RESPONSE_CLASSES) as ResponseClass[], counts);
}

function countsOf<Name extends string>(kind: string, names: readonly Name[], counts: Counts<string>) {
  return Object.fromEntries(names.map((name) => [name, counts[`${kind}.${name}`] ?? 0])) as Record<Name, number>;
}

/** The counts that `zeros` names. */
export function withZeros<Name extends string>(zeros: Record<Name, number>, counts: NoInfer<Counts<Name>>) {
  return Object.fromEntries(Object.keys(zeros).map((name) => [name, counts[name as Name] ?? 0])) as typeof zeros;
}

export function keyStats(
  key: Pick<typeof apiKeys.$inferSelect, "id" | "organizationId" | "name">,
  numbers: KeyNumbers | undefined,
) {
  return {
    ...pick(key, "id", "organizationId", "name"),
    admitted: numbers?.admitted ?? 0,
    refused: { ...NO_REFUSALS, ...numbers?.refused },
    updatedAt: isoTimeOrNull(numbers?.at),
  };
}

export function memberStats(
  member: Pick<typeof members.$inferSelect, "id" | "organizationId" | "name">,
  numbers: AssignedChats | undefined,
) {
  return {
    ...pick(member, "id", "organizationId", "name"),
    chats: numbers?.chats ?? 0,
    unanswered: numbers?.unanswered ?? 0,
  };
}

function idsOf({ rows }: { rows: { id: string }[] }): string[] {
  return rows.map(({ id }) => id);
}

function byId<Numbers extends { id: string }>(all: Numbers[], id: string): Numbers | undefined {
  return all.find((numbers) => numbers.id === id);
}
