import { command, ORGANIZATION_OPTION } from "../command.ts";
import { type JsonObject, type Service, ServiceFault } from "../service.ts";

/** What a list counts. */
const COUNTED = ["members", "templates", "channels"] as const;
type Counted = (typeof COUNTED)[number];

interface Organization {
  limits: Record<"chats" | Counted, number | null>;
  selfService: { maxKeys: number | null; maxPerSecond: number | null; monthlyQuota: number | null } | null;
}

interface Key {
  rateLimit: { limit: number; windowSeconds: number };
  monthlyQuota: number | null;
  revokedAt: string | null;
}

/** Reads a path below an organization. Null if the API key lacks the permission. */
type Read = (path: string, query?: Record<string, number>) => Promise<JsonObject | null>;

const ONE = { limit: 1 };

/** What an organization may have, and what it has. */
export const limitsCommands = [
  command({
    name: "limits",
    about: "Show an organization's limits, its self-service ceilings, and its usage",
    details: `Uses the operator's token if it is known, else the API key, which needs keys:read, chats:read, members:read,
templates:read and channels:read to show what is used.
The sum of quotas has those of keys that were revoked this month. A quota that was lowered this month counts more in the
service than here.`,
    options: ORGANIZATION_OPTION,
    async run({ options, service, out }) {
      const { read, path } = await readerOf(service, options.organization);
      // Needs no permission.
      const { organization } = (await read(path)) as unknown as { organization: Organization };
      const { limits, selfService } = organization;
      const [keys, chats] = [await allKeys(read), await read("/chats", ONE)];
      const counts: [Counted, number | null][] = [];
      for (const name of COUNTED) counts.push([name, totalOf(await read(`/${name}`, ONE))]);
      const used = {
        chats: totalOf(chats),
        ...(Object.fromEntries(counts) as Record<Counted, number | null>),
        ...(keys ? usedOf(keys, new Date()) : { maxKeys: null, maxPerSecond: null, monthlyQuota: null }),
      };
      if (out.json) return out.document({ limits, selfService, used });
      const rows = [
        { name: "Chats", used: used.chats, limit: limits.chats },
        { name: "Members", used: used.members, limit: limits.members },
        { name: "Templates", used: used.templates, limit: limits.templates },
        { name: "Channels", used: used.channels, limit: limits.channels },
        { name: "Keys that are not revoked", used: used.maxKeys, limit: selfService?.maxKeys },
        { name: "Requests per second, per key", used: used.maxPerSecond, limit: selfService?.maxPerSecond },
        { name: "Sum of the keys' monthly quotas", used: used.monthlyQuota, limit: selfService?.monthlyQuota },
      ];
      out.list({ limits: rows }, "limits", { LIMIT: "name", USED: "used", MAXIMUM: "limit" });
      if (!selfService) out.note("Self-service is off: only the operator manages keys.");
    },
  }),
];

/** How many rows a list has; null if the API key may not read it. */
function totalOf(list: JsonObject | null): number | null {
  return (list?.pagination as { total: number } | undefined)?.total ?? null;
}

/** What counts in each ceiling at `now`. */
function usedOf(keys: Key[], now: Date) {
  const month = now.toISOString().slice(0, 7);
  const live = keys.filter(({ revokedAt }) => revokedAt === null);
  const counted = keys.filter(({ revokedAt }) => revokedAt === null || revokedAt.startsWith(month));
  const rates = live.map(({ rateLimit: { limit, windowSeconds } }) => limit / windowSeconds);
  return {
    maxKeys: live.length,
    maxPerSecond: Math.ceil(Math.max(0, ...rates) * 100) / 100,
    monthlyQuota: counted.reduce((sum, { monthlyQuota }) => sum + (monthlyQuota ?? 0), 0),
  };
}

/** All keys, revoked ones too; null if the API key lacks `keys:read`. */
async function allKeys(read: Read): Promise<Key[] | null> {
  const keys: Key[] = [];
  for (let page = 1, totalPages = 1; page <= totalPages; page++) {
    const body = await read("/keys", { limit: 100, page });
    if (!body) return null;
    keys.push(...(body.keys as Key[]));
    ({ totalPages } = body.pagination as { totalPages: number });
  }
  return keys;
}

/** @returns `path`: that of the organization itself */
async function readerOf(service: Service, given: string | undefined): Promise<{ read: Read; path: string }> {
  if (service.usesKey(given)) {
    const read: Read = async (path, query = {}) => {
      try {
        return (await service.asClient("GET", path, { query })).body;
      } catch (error) {
        if (error instanceof ServiceFault && error.code === "permission_denied") return null;
        throw error;
      }
    };
    return { read, path: "/organization" };
  }
  const prefix = `/organizations/${await service.organization(given)}`;
  return {
    read: async (path, query = {}) => (await service.asOperator("GET", `${prefix}${path}`, { query })).body,
    path: "",
  };
}
