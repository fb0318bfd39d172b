import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import fc from "fast-check";
import { test, vi } from "vitest";
import { crash, stopTheClock } from "../../service/chats/object/delivery/conversation.ts";
import { withGrants } from "../../support/grants.ts";
import { newKey, newOrganization } from "../../support/harness.ts";
import { until } from "../../support/until.ts";
import { stopWaits } from "../../support/waits.ts";
import { hold, TIMEOUT_MS } from "./hold.ts";
import { newIsolate } from "./isolates.ts";
import { COMMANDS, type RealKey, rules, usage } from "./key-commands.ts";
import { KeyModel } from "./key-model.ts";

stopTheClock();
withGrants();

/** Two seconds before a month ends, in a year to come: no alarm rings before its time. */
const START = Date.UTC(new Date().getUTCFullYear() + 1, 1, 1) - 2_000;

const CHANGE_WAITS_MS = 1_000;

test(
  "whatever is done to a key, it admits and refuses as a window and a month's count would, and each answer says so",
  async () => {
    vi.setSystemTime(START);
    const { organizationId } = await newOrganization();
    const waits = stopWaits();
    await hold("key", { few: 25, many: 5_000 }, (replayPath) =>
      fc.asyncProperty(
        rules,
        fc.commands(COMMANDS, { maxCommands: 40, size: "max", ...(replayPath !== undefined && { replayPath }) }),
        async (first, commands) => {
          waits.cancelAll();
          vi.setSystemTime(START);
          const { rateLimit, monthlyQuota } = first;
          const { key, secret } = await newKey(organizationId, { rateLimit, monthlyQuota });
          const real = realKey(key.id, secret, waits);
          const model = new KeyModel(START, { ...first }, secret);
          await fc.asyncModelRun(() => ({ model, real }), commands);
          await usage().run(model, real);
        },
      ),
    );
  },
  TIMEOUT_MS,
);

type Waits = ReturnType<typeof stopWaits>;

/** Lets a change wait for what isolates hold. */
async function whilePassing<T>(waits: Waits, acting: Promise<T>): Promise<T> {
  let isOver = false;
  const ended = acting.finally(() => {
    isOver = true;
  });
  const isWaiting = () => waits.count(CHANGE_WAITS_MS) > 0;
  while (!isOver) {
    await until("a change ends or waits", () => isOver || isWaiting());
    if (isWaiting()) await waits.pass(CHANGE_WAITS_MS);
  }
  return ended;
}

/** A key's own object, behind two isolates of the Worker. */
function realKey(id: string, secret: string, waits: Waits): RealKey {
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
    patch: (rules) => whilePassing(waits, admin("PATCH", "", rules)),
    rotate: (overlapSeconds) => whilePassing(waits, admin("POST", "/rotate", { overlapSeconds })),
    revoke: () => whilePassing(waits, admin("DELETE", "")),
    usage: () => admin("GET", "/usage"),
    pass: (ms) => waits.pass(ms),
    setClock: (now) => void vi.setSystemTime(now),
    now: () => Date.now(),
    lose: async (how) => {
      // Only an object that runs can be lost.
      await runInDurableObject(object(), () => {});
      await (how === "crashed" ? crash(object()) : evictDurableObject(object()));
    },
    loseIsolate: (isolate) => {
      isolates[isolate] = newIsolate();
    },
  };
}
