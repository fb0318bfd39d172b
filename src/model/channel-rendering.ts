import type { NetworkKind } from "./channel-kind.ts";
import { telegramRendering } from "./channel-kinds/telegram.ts";
import { whatsappRendering } from "./channel-kinds/whatsapp.ts";
import type { RenderingOf } from "./content.ts";

/** How each network shows choices, for a preview. */
export const NETWORK_RENDERINGS: Record<NetworkKind, RenderingOf> = {
  whatsapp: whatsappRendering,
  telegram: telegramRendering,
};
