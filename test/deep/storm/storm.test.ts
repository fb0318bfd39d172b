import { afterAll, beforeAll, expect, test } from "vitest";
import { alarms } from "./alarms.ts";
import { damaged } from "./damaged.ts";
import { deadReceiver } from "./dead-receiver.ts";
import { telegram } from "./delivery.ts";
import { events } from "./events.ts";
import { alone, beginGround, type Ground } from "./ground.ts";
import { herd } from "./herd.ts";
import { mixed } from "./mixed.ts";
import { quota } from "./quota.ts";
import { Random } from "./random.ts";
import { reading } from "./reading.ts";
import { revocation } from "./revocation.ts";
import { soak } from "./soak.ts";
import type { Force } from "./storm.ts";
import { streams } from "./streams.ts";
import { visitors } from "./visitors.ts";
import { burst } from "./webhooks.ts";

const TIMEOUT_MS = 240_000;

function little(rounds = 1): Force {
  return { rounds, minutes: 0.05, random: new Random(Date.now()), log: () => {} };
}

let ground: Ground;
beforeAll(async () => {
  ground = await beginGround();
}, TIMEOUT_MS);
afterAll(() => ground.end());

test("a kill during delivery, and one by the network, lose no confirmed message and keep the order", {
  timeout: TIMEOUT_MS,
}, async () => {
  const rows = await alone(telegram, little());
  expect(rows.map(({ faults }) => faults)).toEqual([[]]);
});

test("damaged files of chats cause errors or complete lists, never shorter ones", {
  timeout: TIMEOUT_MS,
}, async () => {
  const rows = await alone(damaged, little(5));
  expect(rows.map(({ faults }) => faults)).toEqual([[]]);
});

test.for([
  ["five hundred concurrent sends with one key create one message, even over a kill", herd, 1],
  ["the last unit of a quota is granted once, and a kill returns none", quota, 1],
  ["the first request after a change of a key sees it", revocation, 0.28],
  ["reading with cursors during writes misses and repeats nothing", reading, 1],
  ["webhooks that arrive five times, concurrently and in any order, are stored once", burst, 0.2],
  ["kills amid webhooks lose no event and keep the order of each chat", events, 3],
  ["polls and streams on a connection that breaks all the time miss no event", streams, 1],
  ["a dead receiver gets no more calls than scheduled, and all events once it is back", deadReceiver, 0.05],
  ["visitors on a connection that breaks all the time see each message once, in order", visitors, 1],
  ["alarms that became due while the service was dead run after its start", alarms, 1],
  ["lists, sends and webhooks never fail, and leave no work behind", soak, 1],
] as const)("%s", { timeout: TIMEOUT_MS }, async ([, storm, rounds]) => {
  const rows = await storm(little(rounds), ground);
  expect(rows.flatMap(({ faults }) => faults)).toEqual([]);
});

test("while D1 is down amid mixed traffic, only the operator's requests fail", { timeout: TIMEOUT_MS }, async () => {
  // The outage begins 9 seconds after the start, so what is cached for 10 seconds is read again during it.
  const rows = await mixed({ ...little(), minutes: 1 / 3 }, ground);
  expect(rows.flatMap(({ faults }) => faults)).toEqual([]);
});
