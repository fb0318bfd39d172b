import { expect, test } from "vitest";
import { damaged } from "./damaged.ts";
import { telegram } from "./delivery.ts";
import { Random } from "./random.ts";

test("a kill amid delivery, and one by the network, lose nothing that was acknowledged and keep the order", {
  timeout: 240_000,
}, async () => {
  const rows = await telegram({ rounds: 1, random: new Random(Date.now()), log: () => {} });
  expect(rows.map(({ faults }) => faults)).toEqual([[]]);
});

test("files of chats that are damaged err or are whole, and never shorten a list", { timeout: 240_000 }, async () => {
  const rows = await damaged({ rounds: 5, random: new Random(Date.now()), log: () => {} });
  expect(rows.map(({ faults }) => faults)).toEqual([[]]);
});
