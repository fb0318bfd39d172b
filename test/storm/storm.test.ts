import { expect, test } from "vitest";
import { acknowledged } from "./acknowledged.ts";
import { telegram } from "./delivery.ts";
import { Random } from "./random.ts";

const PATIENCE_MS = 240_000;

const force = () => ({ rounds: 1, random: new Random(Date.now()), log: () => {} });

test("a kill amid senders loses nothing that was acknowledged", { timeout: PATIENCE_MS }, async () => {
  for (const { faults } of await acknowledged(force())) expect(faults).toEqual([]);
});

test("a kill amid delivery, and one by the network, lose nothing and keep the order", {
  timeout: PATIENCE_MS,
}, async () => {
  for (const { faults } of await telegram(force())) expect(faults).toEqual([]);
});
