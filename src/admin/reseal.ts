import { and, asc, eq, gt } from "drizzle-orm";
import { type Directory, directory } from "../db/client.ts";
import { channels } from "../db/schema.ts";
import { causeOf } from "../log.ts";
import { open, type SealingKeys, seal, sealingKeys } from "../secrets/sealing.ts";
import { isAsRead } from "./channels.ts";

type Channel = typeof channels.$inferSelect;

const ROWS_PER_READ = 100;

/** The result of a reseal. */
export interface Resealed {
  /** The number of channels whose secrets are all sealed under the current key now. */
  resealed: number;
  /** The ids of channels with a secret that no configured key opens. */
  unreadable: string[];
}

/**
 * Reseals all secrets that don't open under the current key. A row is replaced only if it has not changed since it was
 * read, so channels can be changed at the same time. If a request fails, repeat it: it skips channels that are done. A
 * channel with a secret that no key opens is left alone.
 */
export async function resealAll(env: Env): Promise<Resealed> {
  const db = directory(env);
  const keys = sealingKeys(env);
  const done: Resealed = { resealed: 0, unreadable: [] };
  let after = "";
  for (;;) {
    const rows = await db
      .select()
      .from(channels)
      .where(gt(channels.id, after))
      .orderBy(asc(channels.id))
      .limit(ROWS_PER_READ);
    for (const row of rows) {
      const outcome = await resealRow(db, keys, row);
      if (outcome === "resealed") done.resealed++;
      if (outcome === "unreadable") done.unreadable.push(row.id);
    }
    const last = rows.at(-1);
    if (!last || rows.length < ROWS_PER_READ) return done;
    after = last.id;
  }
}

/** Reseals one channel. Reads it again if it changed in between. */
async function resealRow(
  db: Directory,
  keys: SealingKeys,
  first: Channel,
): Promise<"resealed" | "unreadable" | "gone"> {
  const { id } = first;
  let row: Channel | undefined = first;
  while (row) {
    if (await opensUnder(keys.current, row)) return "resealed";
    const values = await reseal(keys, row);
    if (!values) return "unreadable";
    const written = await db
      .update(channels)
      .set(values)
      .where(and(eq(channels.id, id), isAsRead(row)))
      .returning({ id: channels.id });
    if (written.length > 0) return "resealed";
    row = await db.select().from(channels).where(eq(channels.id, id)).get();
  }
  return "gone";
}

async function opensUnder(current: SealingKeys["current"], row: Channel): Promise<boolean> {
  const sealed = {
    credentials: row.credentials,
    verify_token: row.verifyToken,
    identity_secret: row.identitySecret,
    identity_previous: row.identityPrevious,
  };
  try {
    for (const [column, text] of Object.entries(sealed)) {
      if (text !== null) await open({ current, previous: undefined }, { id: row.id, column }, text);
    }
    return true;
  } catch {
    return false;
  }
}

/** A channel's sealed columns under the current key. Null if no key opens one of them. */
async function reseal(keys: SealingKeys, row: Channel) {
  const again = async (column: string, sealed: string | null) =>
    sealed === null ? null : seal(keys, { id: row.id, column }, await open(keys, { id: row.id, column }, sealed));
  try {
    return {
      credentials: await again("credentials", row.credentials),
      verifyToken: await again("verify_token", row.verifyToken),
      identitySecret: await again("identity_secret", row.identitySecret),
      identityPrevious: await again("identity_previous", row.identityPrevious),
    };
  } catch (error) {
    console.error({ event: "credential_not_readable", channelId: row.id, error: causeOf(error) });
    return null;
  }
}
