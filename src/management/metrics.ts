import { and, asc, eq, gt, inArray, isNotNull, isNull, or, sql } from "drizzle-orm";
import * as z from "zod/mini";
import { answerWithin } from "../calls/call-object.ts";
import { callOrganization } from "../calls/call-organization.ts";
import { directory } from "../db/client.ts";
import type { RowPosition } from "../db/rows.ts";
import { apiKeys, channels, organizations } from "../db/schema.ts";
import { fault } from "../http/validation.ts";
import { queryText } from "../model/field.ts";
import { isId } from "../model/id.ts";
import type { OrganizationMetrics } from "../model/metrics.ts";
import { readOpaque, writeOpaque } from "../model/opaque.ts";
import { BoundedMap } from "../platform/bounded-map.ts";
import { isRecent, SYSTEM_CLOCK } from "../platform/clock.ts";
import { settleEach } from "../platform/concurrency.ts";
import { causeOf } from "../platform/log.ts";
import { perIsolate } from "../platform/per-isolate.ts";

/** The query of `GET /metrics`. */
export const metricsQuery = z.object({ after: queryText(96) });

/** The maximum number of organizations on a page. */
export const MAX_METRIC_ORGANIZATIONS = 1_000;
/** A page ends after the organization that has the last of these channels: the text must fit into memory. */
const MAX_CHANNELS = 10_000;
/** The platform limits connections, and a call of an object is not a connection. */
const CALLS_AT_ONCE = 100;
const CALL_MS = 3_000;
/** Prometheus waits for 10 s. What was not read by then has failed. */
const PAGE_MS = 8_000;
const CACHED_MS = 15_000;
const CACHED_PAGES = 4;

/** A key's monthly quota. */
interface Quota {
  id: string;
  monthlyQuota: number;
}

/** What the metrics say of an organization. `numbers`: null if its object did not answer. */
export interface MeasuredOrganization {
  id: string;
  numbers: OrganizationMetrics | null;
  quotas: Quota[];
}

/** A page of organizations, oldest first. `next` continues the list; null if none follows. */
export interface MetricsPage {
  organizations: MeasuredOrganization[];
  next: string | null;
}

/** The numbers of an organization whose object is empty. */
const NOTHING: OrganizationMetrics = {
  channels: [],
  requests: { admitted: 0, refused: {} },
  usedThisMonth: {},
  webhooks: { all: 0, failing: 0, disabled: {} },
};

const cached = perIsolate(() => new BoundedMap<string, { page: MetricsPage; at: number }>(CACHED_PAGES));

/**
 * The numbers of a page of organizations, in one call of each organization's object. It may be 15 seconds old.
 * @param after the `next` of another page; it stays valid if organizations are deleted
 * @throws ApiError `validation_failed`, `unavailable` if D1 does not answer
 */
export async function readMetrics(env: Env, after: string | undefined): Promise<MetricsPage> {
  const pages = cached(env);
  const key = after ?? "";
  const known = pages.get(key);
  if (known && isRecent(known.at, CACHED_MS, Date.now())) return known.page;
  const page = await readPage(env, after === undefined ? { createdAt: 0, id: "" } : placeOf(after));
  pages.set(key, { page, at: Date.now() });
  return page;
}

function placeOf(cursor: string): RowPosition {
  const [createdAt, id] = readOpaque(cursor, 2);
  if (!Number.isSafeInteger(createdAt) || typeof id !== "string" || !isId("org", id))
    throw fault("after", "must be from the Link header of another page");
  return { createdAt: createdAt as number, id };
}

async function readPage(env: Env, place: RowPosition): Promise<MetricsPage> {
  const begunAt = Date.now();
  const { rows, quotas } = await readRows(env, place, begunAt);
  const listed = rows.slice(0, countOnPage(rows));
  const numbers = new Map<string, OrganizationMetrics>();
  const failed = await settleEach(
    listed,
    async ({ id, region }) => {
      const keyIds = (quotas.get(id) ?? []).map((quota) => quota.id);
      const left = Math.max(0, Math.min(CALL_MS, begunAt + PAGE_MS - Date.now()));
      const answer = await answerWithin(left, () =>
        callOrganization(env, id, (organization) => organization.metrics(keyIds), region),
      );
      numbers.set(id, answer ?? NOTHING);
    },
    SYSTEM_CLOCK,
    CALLS_AT_ONCE,
  );
  const [first] = failed;
  if (first) {
    const organizationId = first.item.id;
    console.warn({ event: "metrics_not_read", count: failed.length, organizationId, error: causeOf(first.error) });
  }
  const last = listed.length < rows.length ? listed.at(-1) : undefined;
  return {
    organizations: listed.map(({ id }) => ({ id, numbers: numbers.get(id) ?? null, quotas: quotas.get(id) ?? [] })),
    next: last ? writeOpaque([last.createdAt, last.id]) : null,
  };
}

/** How many of these organizations a page has, by the number of their channels. */
function countOnPage(rows: { channels: number }[]): number {
  let channels = 0;
  const last = rows.findIndex((row) => (channels += row.channels) >= MAX_CHANNELS);
  return last === -1 ? MAX_METRIC_ORGANIZATIONS : Math.min(last + 1, MAX_METRIC_ORGANIZATIONS);
}

/** The organizations behind a place, one more than a page has, and the quotas of their keys, in one round trip. */
async function readRows(env: Env, { createdAt, id }: RowPosition, now: number) {
  const db = directory(env);
  const isBehind = sql`(${organizations.createdAt}, ${organizations.id}) > (${createdAt}, ${id})`;
  const where = and(isNull(organizations.erasingAt), isBehind);
  const order = [asc(organizations.createdAt), asc(organizations.id)] as const;
  const limit = MAX_METRIC_ORGANIZATIONS + 1;
  const { id: ofId, region, createdAt: at } = organizations;
  const ids = db
    .select({ id: ofId })
    .from(organizations)
    .where(where)
    .orderBy(...order)
    .limit(limit);
  const [rows, keys] = await db.batch([
    db
      .select({
        id: ofId,
        region,
        createdAt: at,
        channels: db.$count(channels, eq(channels.organizationId, ofId)),
      })
      .from(organizations)
      .where(where)
      .orderBy(...order)
      .limit(limit),
    db
      .select({ id: apiKeys.id, organizationId: apiKeys.organizationId, monthlyQuota: apiKeys.monthlyQuota })
      .from(apiKeys)
      .where(
        and(
          isNotNull(apiKeys.monthlyQuota),
          isNull(apiKeys.revokedAt),
          or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, now)),
          inArray(apiKeys.organizationId, ids),
        ),
      ),
  ]);
  const limited = keys.map(({ monthlyQuota, ...key }) => ({ ...key, monthlyQuota: monthlyQuota ?? 0 }));
  return { rows, quotas: Map.groupBy(limited, ({ organizationId }) => organizationId) };
}
