import type { platform } from "./globals.ts";
import type { SimulatedObject } from "./object.ts";
import type { Party, PlatformWorld } from "./party.ts";

/**
 * The service's clock, chance, timers and log are the world's from now on.
 * @param send takes a message to its network
 * @param act takes a reaction and the like to its network
 */
export function usePlatform(
  { platform: used }: { platform: typeof platform },
  world: PlatformWorld,
  send?: (chat: SimulatedObject, ...given: Parameters<typeof platform.send>) => Promise<unknown>,
  act?: (chat: SimulatedObject, ...given: Parameters<typeof platform.act>) => Promise<unknown>,
): void {
  const running = () => world.running as Party | null;
  Object.assign(used, {
    now: () => running()?.now ?? world.now,
    random: () => world.random(),
    timer: (ms: number, run: () => void) => running()?.timer(ms, run),
    log: (line: unknown) => world.note(() => JSON.stringify(line).split("\\n", 1)[0] ?? ""),
    ...(send && {
      send: (...given: Parameters<typeof platform.send>) => send(running() as SimulatedObject, ...given),
    }),
    ...(act && {
      act: (...given: Parameters<typeof platform.act>) => act(running() as SimulatedObject, ...given),
    }),
  } satisfies Partial<Record<keyof typeof platform, unknown>>);
}

/** Picks one of the actions, each as likely as its weight is great. */
export function pickAction(world: PlatformWorld, actions: [number, () => void][]): () => void {
  let at = world.random() * actions.reduce((sum, [weight]) => sum + weight, 0);
  const chosen = actions.find(([weight]) => {
    at -= weight;
    return at < 0;
  });
  return () => chosen?.[1]();
}
