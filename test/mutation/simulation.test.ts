import { expect, test } from "vitest";
import { DELIVERY } from "../simulate/delivery/scenario.ts";
import { runObjectSeries } from "../simulate/objects/scenario.ts";

/** Few, for they are run once for each mutant of what they decide by. */
const SEEDS = 5;

/** Never called. It tells the runner that this test concerns what these modules decide by: it can't see into the bundle. */
export const simulated = [
  () => import("../../src/channels/object/permits.ts"),
  () => import("../../src/chats/object/delivery/queue.ts"),
];

test("whatever goes wrong, what must hold does, in a few seeds", async () => {
  const { broken } = await runObjectSeries(DELIVERY, await DELIVERY.load(), 1, SEEDS);
  expect(Object.fromEntries(broken)).toEqual({});
});
