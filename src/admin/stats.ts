import { eq } from "drizzle-orm";
import * as z from "zod/mini";
import { directory } from "../db/client.ts";
import { apiKeys, channels, organizations } from "../db/schema.ts";
import { queryText } from "../http/fields.ts";
import { pageQuery, pagination } from "../http/pagination.ts";
import { healthOf } from "./channels.ts";
import { listRows, rowOf } from "./rows.ts";

/** The query of `GET /stats`. */
export const statsQuery = z.extend(pageQuery, { organization: z.optional(queryText(64)) });

const NO_ATTEMPTS = { sent: 0, retry: 0, failed: 0, unknown: 0, moved: 0, channel_broken: 0 };
const NO_REFUSALS = { invalid_api_key: 0, ip_not_allowed: 0, permission_denied: 0, rate_limited: 0, quota_exceeded: 0 };

/**
 * The numbers of channels and keys, oldest first. It reads only the directory and calls no object. `page` and `limit`
 * apply to both lists, and `pagination` describes the longer one.
 * @throws ApiError `organization_not_found`
 */
export async function readStats(env: Env, { organization, ...page }: z.output<typeof statsQuery>) {
  const db = directory(env);
  if (organization !== undefined) await rowOf(db, organizations, organization, "organization_not_found");
  const within = ({ organizationId }: typeof channels | typeof apiKeys) =>
    organization === undefined ? undefined : eq(organizationId, organization);
  const [ofChannels, ofKeys] = await Promise.all([
    listRows(db, channels, within(channels), page),
    listRows(db, apiKeys, within(apiKeys), page),
  ]);
  const now = Date.now();
  return {
    channels: ofChannels.rows.map((row) => channelStats(row, now)),
    keys: ofKeys.rows.map(keyStats),
    pagination: pagination({ ...page, total: Math.max(ofChannels.pagination.total, ofKeys.pagination.total) }),
  };
}

/** A channel's numbers at `now`, as the API shows them. */
export function channelStats(row: typeof channels.$inferSelect, now: number) {
  const { id, organizationId, kind, name, healthState, stats } = row;
  const oldest = stats?.oldest ?? null;
  return {
    id,
    organizationId,
    kind,
    name,
    health: { ...healthOf(row), nextProbeAt: timeOrNull(healthState === "broken" ? stats?.probeAt : null) },
    queue: {
      depth: stats?.depth ?? 0,
      oldest: timeOrNull(oldest),
      ageSeconds: oldest === null ? null : Math.max(0, Math.floor((now - oldest) / 1_000)),
    },
    attempts: { ...NO_ATTEMPTS, ...stats?.attempts },
    updatedAt: timeOrNull(stats?.at),
  };
}

/** A key's numbers as the API shows them. */
export function keyStats({ id, organizationId, name, stats }: typeof apiKeys.$inferSelect) {
  return {
    id,
    organizationId,
    name,
    admitted: stats?.admitted ?? 0,
    refused: { ...NO_REFUSALS, ...stats?.refused },
    updatedAt: timeOrNull(stats?.at),
  };
}

function timeOrNull(time: number | null | undefined): string | null {
  return typeof time === "number" ? new Date(time).toISOString() : null;
}
