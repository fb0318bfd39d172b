import { createHmac } from "node:crypto";
import type { Channel } from "./factories.ts";

/** The hash with which a site identifies its user to a web channel. */
export function hashOf({ identitySecret }: Pick<Channel, "identitySecret">, user: string): string {
  return createHmac("sha256", identitySecret).update(user).digest("hex");
}
