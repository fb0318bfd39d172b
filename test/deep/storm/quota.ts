import { setTimeout as delay } from "node:timers/promises";
import { type Answer, wanted } from "../../support/world/world.ts";
import type { Ground } from "./ground.ts";
import { Parley } from "./parley.ts";
import { atMost, type Force, type Row } from "./storm.ts";

const PARALLEL = 200;
/** What waits in `wrangler dev` at once: of a few hundred connections its proxy loses some. */
const IN_FLIGHT = 100;
const ROUNDS_A_KILL = 2;
const KEYS = 4;
const CONNECTIONS_A_KEY = 2;
/** Of what a quota has left, this may be lost with an object's memory. */
const MAX_LOSS = 0.01;
/** Enough that an object reserves ahead, and little enough that it runs out. */
const QUOTA = 2_000;

/** A quota's last unit under many requests at once, and quotas over kills. */
export async function quota(force: Force, ground: Ground): Promise<Row[]> {
  const parley = await Parley.begin(ground.server);
  return [await lastUnit(force, parley), await killed(force, ground, parley)];
}

async function lastUnit({ rounds, random, log }: Force, parley: Parley): Promise<Row> {
  const faults: string[] = [];
  let lost = 0;
  for (let round = 1; round <= rounds * ROUNDS_A_KILL; round++) {
    const monthlyQuota = random.between(1, 5);
    const { id, secret } = await parley.newKey({ monthlyQuota });
    const key = parley.as(secret);
    for (let used = 1; used < monthlyQuota; used++) wanted(200, await key.api("GET", "/chats"));
    const answers = await atMost(
      IN_FLIGHT,
      Array.from({ length: PARALLEL }, () => () => key.api("GET", "/chats")),
    );
    lost += answers.filter(({ status }) => status === 0).length;
    const used = await usedOf(parley, id);
    faults.push(...lastUnitFaults(answers, used - monthlyQuota).map((fault) => `round ${round}: ${fault}`));
    if (round % 20 === 0) log(`  ${round} last units`);
  }
  return {
    test: "last unit of a quota",
    howMany: `${rounds * ROUNDS_A_KILL} × ${PARALLEL} requests, ${IN_FLIGHT} at once`,
    held: `exactly 1 of each passed, the others were refused; ${lost} calls lost`,
    faults,
  };
}

/** What is wrong with the answers on one unit. The unit may have gone to a call that was lost. */
export function lastUnitFaults(answers: Pick<Answer, "status" | "body">[], overdrawn: number): string[] {
  const faults: string[] = [];
  const passed = answers.filter(({ status }) => status === 200).length;
  const lost = answers.filter(({ status }) => status === 0).length;
  const refused = answers.filter(({ status, body }) => status === 403 && body.code === "quota_exceeded").length;
  if (passed > 1 || (passed === 0 && lost === 0)) faults.push(`${passed} passed`);
  if (passed + lost + refused !== answers.length) faults.push("a call was answered otherwise");
  if (overdrawn !== 0) faults.push(`${overdrawn} more were counted than the quota has`);
  return faults;
}

/** What a key's count came to in a life of the server. */
export interface Life {
  quota: number;
  /** What was used when it began, as the service said. */
  before: number;
  granted: number;
  /** Calls that the kill cut off, of which each may have been counted. */
  unanswered: number;
  /** What was used at the start of the next life, as the service said. */
  after: number;
}

async function killed({ rounds, random, log }: Force, { server }: Ground, parley: Parley): Promise<Row> {
  const faults: string[] = [];
  let [granted, lost, dry] = [0, 0, 0];
  const all: Spending[] = [];
  const open = Array.from({ length: KEYS }, () => ({ id: "", key: parley, used: 0, granted: 0 }) as Spending);
  for (let round = 1; round <= rounds; round++) {
    for (const at of open.keys()) {
      if (open[at]?.id && !open[at].isDry) continue;
      const { id, secret } = await parley.newKey({ monthlyQuota: QUOTA });
      all.push((open[at] = { id, key: parley.as(secret), used: 0, granted: 0, isDry: false }));
    }
    let isOver = false;
    const spent = open.map((key) => ({ key, granted: 0, unanswered: 0 }));
    const spend = async (one: (typeof spent)[number]) => {
      while (!isOver && !one.key.isDry) {
        const { status, body } = await one.key.key.api("GET", "/chats");
        if (status === 200) one.granted++;
        else if (status === 0) one.unanswered++;
        else if (body.code === "quota_exceeded") one.key.isDry = true;
        else throw new Error(`a request was answered ${status}: ${JSON.stringify(body)}`);
      }
    };
    const busy = spent.flatMap((one) => Array.from({ length: CONNECTIONS_A_KEY }, () => spend(one)));
    await delay(random.between(20, 1_200));
    const { gone } = server.kill();
    isOver = true;
    await Promise.all([gone, ...busy]);
    await server.start();
    for (const one of spent) {
      const after = await usedOf(parley, one.key.id);
      const life = { quota: QUOTA, before: one.key.used, granted: one.granted, unanswered: one.unanswered, after };
      faults.push(...lifeFaults(life).map((fault) => `kill ${round}: ${fault}`));
      lost += Math.max(0, after - one.key.used - one.granted - one.unanswered);
      granted += one.granted;
      dry += Number(one.key.isDry);
      one.key.used = after;
      one.key.granted += one.granted;
    }
    if (round % 10 === 0) log(`  ${round} kills amid quotas`);
  }
  for (const { granted } of all) if (granted > QUOTA) faults.push(`${granted} granted of ${QUOTA}`);
  return {
    test: "quotas over kills",
    howMany: `${rounds} kills amid ${KEYS * CONNECTIONS_A_KEY} connections of ${KEYS} keys with ${QUOTA} units, ${dry} used up`,
    held: `${granted} granted, each counted, never more than the quota; at least ${lost} lost, never more than 1% of what was left`,
    faults,
  };
}

interface Spending {
  id: string;
  key: Parley;
  used: number;
  granted: number;
  isDry: boolean;
}

/** What is wrong with a count after a kill: units that were granted and are free again, or too many that are gone. */
export function lifeFaults({ quota, before, granted, unanswered, after }: Life): string[] {
  if (after > quota) return [`${after} are counted of ${quota}`];
  const missing = before + granted - after;
  if (missing > 0) return [`${missing} of ${granted} granted are not counted`];
  const lost = -missing - unanswered;
  const most = Math.floor((quota - before) * MAX_LOSS);
  return lost > most ? [`${lost} lost of ${quota - before} that were left`] : [];
}

async function usedOf(parley: Parley, keyId: string): Promise<number> {
  return wanted(200, await parley.admin("GET", `/keys/${keyId}/usage`)).usage.used;
}
