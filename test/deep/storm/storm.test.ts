import { afterAll, beforeAll, beforeEach, expect, onTestFailed, test } from "vitest";
import { Random } from "../../support/random.ts";
import { alarms } from "./alarms.ts";
import { bursts } from "./bursts.ts";
import { damaged } from "./damaged.ts";
import { telegram } from "./delivery.ts";
import { events } from "./events.ts";
import { files } from "./files.ts";
import { alone, beginGround, type Ground } from "./ground.ts";
import { soak } from "./soak.ts";
import type { Force } from "./storm.ts";
import { visitors } from "./visitors.ts";
import { webhooks } from "./webhooks.ts";

/** Each storm waits for what it must see, and says what is missing. It waits longest for the back-off of webhooks. */
const TIMEOUT_MS = 1_500_000;

const SEED = Number(process.env.SEED || Date.now());
beforeEach(() => {
  onTestFailed(() => {
    console.error(`SEED=${SEED}`);
  });
});

function little(rounds = 1): Force {
  return { rounds, minutes: 0.05, random: new Random(SEED), log: () => {} };
}

let ground: Ground;
beforeAll(async () => {
  ground = await beginGround();
}, TIMEOUT_MS);
afterAll(() => ground.end());

test.for([
  ["a kill during delivery, and one by the network, lose no confirmed message and keep the order", telegram, 1],
  ["damaged files of chats cause errors or complete lists, never shorter ones", damaged, 5],
] as const)("%s", { timeout: TIMEOUT_MS }, async ([, storm, rounds]) => {
  const rows = await alone(storm, little(rounds));
  expect(rows.flatMap(({ faults }) => faults)).toEqual([]);
});

test.for([
  ["webhooks that arrive five times, concurrently, in any order and over a kill, are stored once", webhooks, 1],
  ["kills amid webhooks lose no event and keep the order of each chat", events, 3],
  ["visitors on a connection that breaks all the time see each message once, in order", visitors, 1],
  ["kills amid uploads, sends and redactions leave exactly the files that messages show", files, 2],
  ["alarms that became due while the service was dead run after its start", alarms, 1],
  ["a key counts what it admits, amid bursts exactly, and amid kills a block more at most", bursts, 2],
  ["lists, sends and webhooks never fail, and leave no work behind", soak, 1],
] as const)("%s", { timeout: TIMEOUT_MS }, async ([, storm, rounds]) => {
  const rows = await storm(little(rounds), ground);
  expect(rows.flatMap(({ faults }) => faults)).toEqual([]);
});
