import type { Adapter } from "../adapter.ts";
import { media } from "./media.ts";
import { partsOf, send } from "./send.ts";
import { receive } from "./webhook.ts";

/** The Telegram Bot API. It tells of no delivery and no reading, so nothing is waited for after an unknown outcome. */
export const telegram: Adapter = { unknownWaitMs: 0, partsOf, send, receive, media };
