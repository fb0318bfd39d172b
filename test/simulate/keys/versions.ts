import type { Database } from "../objects/storage.ts";

/** A key's row as the directory has it. Times are Unix milliseconds. */
export interface KeyRow {
  hash: string;
  previousHash: string | null;
  previousUntil: number | null;
  permissions: string[];
  addresses: string[];
  limit: number;
  windowSeconds: number;
  quota: number | null;
  expiresAt: number | null;
  revokedAt: number | null;
}

interface StoredRow {
  hash: string;
  previous_hash: string | null;
  previous_until: number | null;
  permissions: string;
  ip_allowlist: string;
  rate_limit: number;
  window_seconds: number;
  monthly_quota: number | null;
  expires_at: number | null;
  revoked_at: number | null;
}

/** A key from one commit of the directory to the next. */
interface Version {
  /** When it was committed, by the world's time. */
  at: number;
  /** Null: the key is deleted, or its organization is being deleted. */
  row: KeyRow | null;
}

/** Who asks for what. */
export interface Query {
  id: string;
  hash: string;
  address: string;
  permission: "messages:send" | "messages:read";
}

/** All that a key was in the directory. */
export class Versions {
  readonly #versions: Version[] = [];
  readonly #database: Database;
  readonly #id: string;

  constructor(database: Database, id: string) {
    this.#database = database;
    this.#id = id;
  }

  /** Something was written at `now`. */
  update(now: number): void {
    const row = this.#read();
    const last = this.#versions.at(-1);
    if (!last || JSON.stringify(last.row) !== JSON.stringify(row)) this.#versions.push({ at: now, row });
  }

  /** As it is. */
  get row(): KeyRow | null {
    return this.#versions.at(-1)?.row ?? null;
  }

  get rows(): KeyRow[] {
    return this.#versions.flatMap(({ row }) => row ?? []);
  }

  /** What the key was during a request. A deletion counts from its own answer on, so the version before it is here too. */
  during(begunAt: number, endedAt: number): (KeyRow | null)[] {
    const from = this.#versions.findLastIndex(({ at, row }) => at < begunAt && row !== null);
    return this.#versions.filter(({ at }, index) => index >= from && at <= endedAt).map(({ row }) => row);
  }

  #read(): KeyRow | null {
    const query = `select api_keys.* from api_keys join organizations on organizations.id = organization_id
      where api_keys.id = ? and erasing_at is null`;
    const [row] = this.#database.query(query, [this.#id]).rows as unknown as StoredRow[];
    if (!row) return null;
    return {
      hash: row.hash,
      previousHash: row.previous_hash,
      previousUntil: row.previous_until,
      permissions: JSON.parse(row.permissions) as string[],
      addresses: JSON.parse(row.ip_allowlist) as string[],
      limit: row.rate_limit,
      windowSeconds: row.window_seconds,
      quota: row.monthly_quota,
      expiresAt: row.expires_at,
      revokedAt: row.revoked_at,
    };
  }
}

/** Why a key refuses a request whatever it has used, at `now`; null if it does not. */
export function whyRefused(row: KeyRow | null, query: Omit<Query, "id">, now: number): string | null {
  if (!row || row.revokedAt !== null || (row.expiresAt !== null && row.expiresAt <= now)) return "invalid_api_key";
  const isPrevious = query.hash === row.previousHash && row.previousUntil !== null && row.previousUntil > now;
  if (query.hash !== row.hash && !isPrevious) return "invalid_api_key";
  if (row.addresses.length > 0 && !row.addresses.includes(query.address)) return "ip_not_allowed";
  return row.permissions.includes(query.permission) ? null : "permission_denied";
}
