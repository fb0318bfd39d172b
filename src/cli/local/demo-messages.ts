import { setTimeout as pause } from "node:timers/promises";
import * as z from "zod/mini";

/** A call of the demo's client: returns the parsed answer. */
export type DemoCall = <T>(path: string, schema: z.ZodMiniType<T>, body?: object, method?: string) => Promise<T>;

const answer = z.object({ message: z.object({ id: z.string(), status: z.string() }) });
const SCHEDULED_FOR_MS = 86_400_000;
const SOON_MS = 200;
const LOOK_EVERY_MS = 50;
const MOST_LOOKS = 100;
const MOST_TRIES = 5;

/**
 * Creates messages that are scheduled, expired, sent again, and failed. No network is called: the one that fails has no
 * media.
 * @param chats the ids of a web chat and a telegram chat
 */
export async function createDemoMessages(call: DemoCall, chats: { web: string; telegram: string }): Promise<void> {
  const web = `/chats/${chats.web}/messages`;
  await call(web, answer, { content: "Thanks for your order! We will write as soon as it is on its way." });
  const expired = await expiredMessage(call, web);
  if (expired) await call(`${web}/${expired}/resend`, answer, {});
  const scheduledAt = new Date(Date.now() + SCHEDULED_FOR_MS).toISOString();
  await call(web, answer, { content: "Your order arrives today.", scheduledAt });
  const failed = { type: "IMAGE", content: "An image without an address, so that it fails" };
  await call(`/chats/${chats.telegram}/messages`, answer, failed);
}

/** A message whose time to be sent is one millisecond long. @returns its id; null if each was sent in time */
async function expiredMessage(call: DemoCall, path: string): Promise<string | null> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const at = Date.now() + SOON_MS;
    const { message } = await call(path, answer, {
      content: "Your order leaves our shop in a minute.",
      scheduledAt: new Date(at).toISOString(),
      expiresAt: new Date(at + 1).toISOString(),
    });
    let { status } = message;
    for (let looks = 0; status === "SCHEDULED" && looks < MOST_LOOKS; looks++) {
      await pause(LOOK_EVERY_MS);
      ({ status } = (await call(`${path}/${message.id}`, answer)).message);
    }
    if (status === "FAILED") return message.id;
  }
  return null;
}
