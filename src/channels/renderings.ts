import type { RenderingOf } from "../model/content.ts";
import type { NetworkKind } from "./descriptions.ts";
import { telegramRendering } from "./telegram/rendering.ts";
import { whatsappRendering } from "./whatsapp/rendering.ts";

/** How each network shows choices, for a preview. */
export const NETWORK_RENDERINGS: Record<NetworkKind, RenderingOf> = {
  whatsapp: whatsappRendering,
  telegram: telegramRendering,
};
