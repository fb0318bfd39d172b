import type { WebhookWorld } from "./rules.ts";

/** More events than the end of a simulation has: one that goes in a circle ends as a fault. */
export const MAX_EVENTS = 50_000;

/** Lets time pass, also if nothing is due. */
export async function pass(world: WebhookWorld, ms: number): Promise<void> {
  world.after(ms, () => {});
  await world.run(world.now + ms, MAX_EVENTS);
}
