import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { GRANTS_OVER_AFTER_MS } from "../../../src/model/key.ts";
import { withGrants } from "../../support/grants.ts";
import { type Answer, admin, created, newKey, newOrganization } from "../../support/harness.ts";
import { Random } from "../../support/random.ts";
import { turns, until } from "../../support/until.ts";
import { newSharingIsolate } from "../models/isolates.ts";

const CHANGES = Number(env.TEST_REQUESTS || 60);
const SEED = Number(env.TEST_SEED || 1);
const LONG = { timeout: 7_200_000 };
withGrants();

/** Keys that are changed side by side, and how many requests of each are under way. */
const KEYS = 8;
const AT_ONCE = 3;
const ISOLATES = 2;
/** A request that takes this long says that the machine was busy with something else. */
const STANDS_STILL_MS = 2_500;
const HERE = "192.0.2.1";

/** What a key is after a change. */
interface State {
  /** Null until the answer of the rotation that makes it. */
  secret: string | null;
  isRevoked: boolean;
  isPermitted: boolean;
  isAllowedHere: boolean;
}

/** A key, its states in their order, and what was found wrong. */
interface Lane {
  id: string;
  states: State[];
  /** The last state whose change has begun, and the last one whose change was answered. */
  begun: number;
  answered: number;
  /** By the clock of `performance`, milliseconds. */
  bornAt: number;
  /** How many requests the key should have counted. */
  counted: number;
  isOver: boolean;
}

type Kind = "rotate" | "revoke" | "permissions" | "addresses";
const KINDS: readonly Kind[] = ["rotate", "permissions", "permissions", "addresses", "addresses", "revoke"];

/** How a request with a secret is judged in a state. */
function judgedIn({ secret, isRevoked, isPermitted, isAllowedHere }: State, used: string): string {
  if (isRevoked || used !== secret) return "401 invalid_api_key";
  if (!isAllowedHere) return "403 ip_not_allowed";
  return isPermitted ? "200" : "403 permission_denied";
}

const judgedAs = ({ status, body }: Answer) => (status === 200 ? "200" : `${status} ${body.code}`);

async function newLane(organizationId: string): Promise<Lane> {
  const { key, secret } = await newKey(organizationId, {
    permissions: ["chats:read"],
    rateLimit: { limit: 1_000_000, windowSeconds: 3_600 },
  });
  const state = { secret, isRevoked: false, isPermitted: true, isAllowedHere: true };
  return { id: key.id, states: [state], begun: 0, answered: 0, bornAt: performance.now(), counted: 0, isOver: false };
}

/** Waits until the key has counted exactly the requests that were answered, or the machine stood still. */
async function untilUsed({ id, counted }: Lane, stoodStill: () => boolean): Promise<void> {
  await until(
    `${counted} requests of ${id} are counted`,
    async () => (await admin("GET", `/keys/${id}/usage`)).body.usage.used,
    (used) => used === counted || stoodStill(),
  );
}

/** Makes one change of a key, and awaits its answer. */
async function change(lane: Lane, kind: Kind): Promise<void> {
  const before = lane.states[lane.begun] as State;
  const after = { ...before };
  if (kind === "rotate") after.secret = null;
  if (kind === "revoke") after.isRevoked = true;
  if (kind === "permissions") after.isPermitted = !before.isPermitted;
  if (kind === "addresses") after.isAllowedHere = !before.isAllowedHere;
  lane.states.push(after);
  lane.begun++;
  const path = `/keys/${lane.id}`;
  if (kind === "rotate") {
    after.secret = created(await admin("POST", `${path}/rotate`, { overlapSeconds: 0 })).secret;
  } else {
    const { status, text } = await (kind === "revoke"
      ? admin("DELETE", path)
      : kind === "permissions"
        ? admin("PATCH", path, { permissions: [after.isPermitted ? "chats:read" : "messages:read"] })
        : admin("PATCH", path, { ipAllowlist: after.isAllowedHere ? null : ["198.51.100.0/24"] }));
    expect(status, text).toBe(200);
  }
  lane.answered = lane.begun;
}

test(
  `no request that begins after the answer of one of ${CHANGES} changes is judged by the key before it`,
  LONG,
  async () => {
    const { organizationId } = await newOrganization();
    const isolates = Array.from({ length: ISOLATES }, newSharingIsolate);
    const random = new Random(SEED);
    const wrong: unknown[] = [];
    const seen: Record<string, number> = {};
    let stoodStillAt = 0;
    let exact = 0;
    let changes = 0;
    let evictions = 0;
    const waited = vi.spyOn(scheduler, "wait");
    const waits = () => waited.mock.calls.filter(([ms]) => ms === GRANTS_OVER_AFTER_MS).length;

    const ask = async (lane: Lane) => {
      const began = performance.now();
      const from = lane.answered;
      // Now and then with the secret before the last rotation.
      const known = lane.states.slice(Math.max(0, from - (random.next() < 0.2 ? 3 : 0)), from + 1);
      const secret = random.pick(known).secret ?? "";
      const answer = await random.pick(isolates)(secret, "GET", "/api/v1/chats", {
        headers: { "CF-Connecting-IP": HERE },
      });
      const judged = judgedAs(answer);
      const allowed = lane.states.slice(from, lane.begun + 1).map((state) => judgedIn(state, secret));
      seen[judged] = (seen[judged] ?? 0) + 1;
      if (judged === "200") lane.counted++;
      if (!allowed.includes(judged)) wrong.push({ id: lane.id, judged, allowed });
      // Else refusals that need no call would leave no time for timers.
      await turns(1);
      const ended = performance.now();
      if (ended - began > STANDS_STILL_MS) stoodStillAt = ended;
    };
    const load = async (lane: Lane) => {
      while (!lane.isOver) await ask(lane);
    };
    const serve = async (isEvicted: boolean) => {
      while (changes < CHANGES) {
        const lane = await newLane(organizationId);
        const loads = Array.from({ length: AT_ONCE }, () => load(lane));
        for (let kind: Kind | null = null; kind !== "revoke" && changes < CHANGES; changes++) {
          kind = random.pick(KINDS);
          // An object that has been awake for a second grants units ahead.
          for (const end = Date.now() + random.between(0, 2_500); Date.now() < end; ) await ask(lane);
          if (isEvicted && random.next() < 0.5) {
            evictions++;
            await evictDurableObject(env.KEYS.getByName(lane.id));
          }
          await change(lane, kind);
          for (let n = random.between(1, 10); n > 0; n--) await ask(lane);
        }
        lane.isOver = true;
        await Promise.all(loads);
        // Those that an isolate held are returned within seconds. If it stands still for longer, they count as used.
        const stoodStill = () => stoodStillAt > lane.bornAt;
        if (isEvicted || stoodStill()) continue;
        await untilUsed(lane, stoodStill);
        if (!stoodStill()) exact++;
      }
    };
    await Promise.all(Array.from({ length: KEYS }, (_, n) => serve(n % 2 === 1)));
    console.info(JSON.stringify({ changes, waits: waits(), evictions, exact, seen, wrong: wrong.length }));
    expect(wrong).toEqual([]);
    // Changes waited for units that an isolate held.
    expect(waits()).toBeGreaterThan(0);
    if (stoodStillAt === 0) expect(exact).toBeGreaterThan(0);
    expect(Object.keys(seen).sort()).toEqual([
      "200",
      "401 invalid_api_key",
      "403 ip_not_allowed",
      "403 permission_denied",
    ]);
  },
);
