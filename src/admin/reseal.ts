import { and, asc, eq, gt } from "drizzle-orm";
import { type Directory, directory } from "../db/client.ts";
import { channels } from "../db/schema.ts";
import { causeOf } from "../log.ts";
import { open, type SealingKeys, seal, sealingKeys } from "../secrets/sealing.ts";
import { isAsRead } from "./channels.ts";

type Channel = typeof channels.$inferSelect;

const ROWS_A_READ = 100;

/** How many channels have all that they keep sealed under the current key now, and which no known key opens. */
export interface Resealed {
  resealed: number;
  unreadable: string[];
}

/**
 * Seals every credential anew that does not open under the current key. Each row is replaced only if it is still as it
 * was read, so that it can run beside changes. Repeated after it broke off, it passes over what it has done, and gets
 * further. A channel that opens under no known key stays as it is.
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
      .limit(ROWS_A_READ);
    for (const row of rows) {
      const outcome = await resealRow(db, keys, row);
      if (outcome === "resealed") done.resealed++;
      if (outcome === "unreadable") done.unreadable.push(row.id);
    }
    const last = rows.at(-1);
    if (!last || rows.length < ROWS_A_READ) return done;
    after = last.id;
  }
}

/** Seals one channel anew, and reads it again where a change came in between. */
async function resealRow(
  db: Directory,
  keys: SealingKeys,
  first: Channel,
): Promise<"resealed" | "unreadable" | "gone"> {
  const { id } = first;
  let row: Channel | undefined = first;
  while (row) {
    if (await opensUnder(keys.current, row)) return "resealed";
    const values = await sealAgain(keys, row);
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

/** The sealed columns of a channel under the current key, or null where one of them opens under no known key. */
async function sealAgain(keys: SealingKeys, row: Channel) {
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
    console.error({ event: "credential_does_not_open", channelId: row.id, error: causeOf(error) });
    return null;
  }
}
