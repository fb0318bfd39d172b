import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import fc from "fast-check";
import { test, vi } from "vitest";
import { crash, stopTheClock } from "../../service/chats/object/delivery/conversation.ts";
import { newKey, newOrganization } from "../../support/harness.ts";
import { hold, TIMEOUT_MS } from "./hold.ts";
import { newIsolate } from "./isolates.ts";
import { COMMANDS, type RealKey, rules, usage } from "./key-commands.ts";
import { type Counts, KeyModel } from "./key-model.ts";

stopTheClock();

/** Two seconds before a month ends, in a year to come: no alarm rings before its time. */
const START = Date.UTC(new Date().getUTCFullYear() + 1, 1, 1) - 2_000;

test(
  "whatever is done to a key, it admits and refuses as a window and a month's count would, and each answer says so",
  async () => {
    vi.setSystemTime(START);
    const { organizationId } = await newOrganization();
    await hold("key", { few: 25, many: 5_000 }, (replayPath) =>
      fc.asyncProperty(
        rules,
        fc.commands(COMMANDS, { maxCommands: 40, size: "max", ...(replayPath !== undefined && { replayPath }) }),
        async (first, commands) => {
          vi.setSystemTime(START);
          const { rateLimit, monthlyQuota } = first;
          const { key, secret } = await newKey(organizationId, { rateLimit, monthlyQuota });
          const real = realKey(key.id, secret);
          const model = new KeyModel(START, { ...first }, secret);
          await fc.asyncModelRun(() => ({ model, real }), commands);
          await usage().run(model, real);
        },
      ),
    );
  },
  TIMEOUT_MS,
);

/** A key's own object, behind two isolates of the Worker. */
function realKey(id: string, secret: string): RealKey {
  const isolates = [newIsolate(), newIsolate()];
  const operator = newIsolate();
  const admin = (method: string, path: string, body?: unknown) =>
    operator(env.ADMIN_TOKEN, method, `/admin/v1/keys/${id}${path}`, { body });
  const object = () => env.KEYS.getByName(id);
  return {
    secrets: [secret],
    ask: ({ secret, address, permission, isolate }) => {
      const path = permission === null ? "/key" : "/chats/none/messages";
      const headers = address === null ? {} : { "CF-Connecting-IP": address };
      return (isolates[isolate] as (typeof isolates)[number])(secret, "GET", `/api/v1${path}`, { headers });
    },
    patch: (rules) => admin("PATCH", "", rules),
    rotate: (overlapSeconds) => admin("POST", "/rotate", { overlapSeconds }),
    revoke: () => admin("DELETE", ""),
    usage: () => admin("GET", "/usage"),
    setClock: (now) => void vi.setSystemTime(now),
    lose: async (how) => {
      const stored = await runInDurableObject(object(), (_object, { storage }) =>
        storage.kv.get<Counts & { stats: unknown; admittedHash: unknown }>("counters"),
      );
      await (how === "crashed" ? crash(object()) : evictDurableObject(object()));
      if (!stored) return null;
      const { stats: _stats, admittedHash: _hash, ...counts } = stored;
      return counts;
    },
    loseIsolate: (isolate) => {
      isolates[isolate] = newIsolate();
    },
  };
}
