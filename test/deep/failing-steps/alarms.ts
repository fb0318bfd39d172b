import { env } from "cloudflare:workers";
import { vi } from "vitest";
import { answered } from "./fixtures.ts";
import { ring } from "./looks.ts";
import { CAUSE, unwatched } from "./steps.ts";

/** An alarm that fails is repeated by the platform, at most this often. */
const RINGS = 6;

type Namespace = "CHATS" | "CHANNELS" | "KEYS" | "ORGANIZATIONS";

/** Rings an object's alarm. If it throws, the platform repeats it. */
export async function rung(namespace: Namespace, id: string) {
  try {
    await ring(unwatched(() => env[namespace].getByName(id)));
    return answered(200);
  } catch (error) {
    return answered(503, String(error).includes(CAUSE) ? "" : String(error));
  }
}

/** Rings an object's alarm until there is none, at most as often as the platform does. The clock passes. */
export async function ringAll(namespace: Namespace, id: string): Promise<void> {
  const object = env[namespace].getByName(id);
  for (let rings = 0; rings < RINGS && (await ring(object)); rings++) vi.setSystemTime(Date.now() + 60_000);
}
