import { and, eq, gt, isNotNull, isNull, or, type SQL } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { Directory } from "../db/client.ts";
import { apiKeys, channels, members, passkeys, signIns, webhooks } from "../db/schema.ts";

/** The most entries of each list. */
export const MAX_SHOWN = 100;

/**
 * What a key or a member leaves behind when it is revoked, removed or narrowed, so that the caller can end this too.
 * All of it stays valid, except unused sign-in links: their maker must still be able to make them.
 */
export interface LeftBehind {
  /** Keys that it created, or gave a secret or rights, and that are not revoked. */
  keys: { id: string; name: string }[];
  /** Members that it added, or gave an email or rights. */
  members: { id: string; name: string }[];
  /** Unused sign-in links. */
  links: { memberId: string; expiresAt: string }[];
  /** Members with sessions that began with its links. */
  sessions: { memberId: string; expiresAt: string }[];
  /** Passkeys that were added in such sessions, or in those that began with such passkeys. */
  passkeys: { id: string; memberId: string; name: string }[];
  /** Webhooks that it created, or gave a URL or a secret. */
  webhooks: { id: string; url: string }[];
  /** Channels whose identity secret it got. */
  identitySecrets: { channelId: string }[];
  /** Whether one of the lists has more than 100 entries, and shows the first 100. */
  hasMore: boolean;
}

interface Maker {
  id: string;
  organizationId: string;
}

/**
 * Runs the change of one key or member, and reads in the same transaction what it leaves behind.
 * @param first a statement that runs in it before the change
 * @returns the changed row, if there was one to change
 */
export async function withLeftBehind<Row>(
  db: Directory,
  change: BatchItem<"sqlite"> & { _: { result: Row[] } },
  { id, organizationId }: Maker,
  first?: BatchItem<"sqlite">,
): Promise<{ changed: Row | undefined; leftBehind: LeftBehind }> {
  const now = Date.now();
  const limit = MAX_SHOWN + 1;
  const made = (
    table: { organizationId: SQLiteColumn; createdBy: SQLiteColumn; setBy: SQLiteColumn },
    ...others: (SQL | undefined)[]
  ): SQL | undefined =>
    and(eq(table.organizationId, organizationId), or(eq(table.createdBy, id), eq(table.setBy, id), ...others));
  const knowsSecret = or(
    eq(apiKeys.secretBy, id),
    and(eq(apiKeys.previousBy, id), isNotNull(apiKeys.previousHash), gt(apiKeys.previousUntil, now)),
  );
  const statements = [
    change,
    db
      .select({ id: apiKeys.id, name: apiKeys.name })
      .from(apiKeys)
      .where(
        and(
          made(apiKeys, knowsSecret),
          isNull(apiKeys.revokedAt),
          or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, now)),
        ),
      )
      .limit(limit),
    db
      .select({ id: members.id, name: members.name })
      .from(members)
      .where(made(members, eq(members.emailBy, id)))
      .limit(limit),
    db
      .select({ memberId: members.id, until: members.signInUntil })
      .from(members)
      .where(and(eq(members.organizationId, organizationId), eq(members.signInBy, id), gt(members.signInUntil, now)))
      .limit(limit),
    db
      .select({ memberId: signIns.memberId, until: signIns.until })
      .from(signIns)
      .innerJoin(members, eq(members.id, signIns.memberId))
      .where(
        and(
          eq(signIns.organizationId, organizationId),
          eq(signIns.madeBy, id),
          gt(signIns.until, now),
          gt(signIns.at, members.sessionsSince),
        ),
      )
      .limit(limit),
    db
      .select({ id: passkeys.id, memberId: passkeys.memberId, name: passkeys.name })
      .from(passkeys)
      .where(and(eq(passkeys.organizationId, organizationId), eq(passkeys.linkBy, id)))
      .limit(limit),
    db
      .select({ id: webhooks.id, url: webhooks.url })
      .from(webhooks)
      .where(and(made(webhooks, eq(webhooks.urlBy, id)), isNull(webhooks.erasingAt)))
      .limit(limit),
    db
      .select({ channelId: channels.id })
      .from(channels)
      .where(
        and(
          eq(channels.organizationId, organizationId),
          isNull(channels.erasingAt),
          isNotNull(channels.identitySecret),
          or(
            eq(channels.identityBy, id),
            and(eq(channels.identityPreviousBy, id), gt(channels.identityPreviousUntil, now)),
          ),
        ),
      )
      .limit(limit),
  ] as const;
  const run = async () => {
    if (!first) return db.batch(statements);
    const [, ...results] = await db.batch([first, ...statements]);
    return results;
  };
  const [[changed], ...lists] = await run();
  const [keys, added, links, sessions, ofLinks, calls, identitySecrets] = lists;
  const shown = <T>(rows: T[]): T[] => rows.slice(0, MAX_SHOWN);
  const ending = (rows: { memberId: string; until: number | null }[]) =>
    shown(rows).map(({ memberId, until }) => ({ memberId, expiresAt: new Date(until ?? now).toISOString() }));
  // Who is narrowed may have changed itself.
  const others = <T extends { id: string }>(rows: T[]): T[] => shown(rows.filter((row) => row.id !== id));
  const leftBehind = {
    keys: others(keys),
    members: others(added),
    links: ending(links),
    sessions: ending(sessions),
    passkeys: shown(ofLinks),
    webhooks: shown(calls),
    identitySecrets: shown(identitySecrets),
    hasMore: lists.some((list) => list.length > MAX_SHOWN),
  };
  return { changed, leftBehind };
}
