import type { Adapter } from "../../../src/channels/adapter.ts";
import { telegram } from "../../../src/channels/telegram/adapter.ts";
import { whatsapp } from "../../../src/channels/whatsapp/adapter.ts";
import { platform } from "../objects/globals.ts";

/** Replaces `src/channels/registry.ts`: networks that answer what the simulation decides. */

const countParts: Adapter["countParts"] = ({ mediaUrl }) => (mediaUrl === null ? 1 : 2);

const send: Adapter["send"] = async (message, _credentials, _network, signal, onPart) => {
  const parts = [...message.partsSent];
  while (parts.length < countParts(message)) {
    const outcome = await platform.send(message.messageId, parts.length, signal);
    if (outcome.outcome !== "sent") return { ...outcome, parts };
    for (const id of outcome.parts) {
      parts.push(id);
      onPart?.(id);
    }
  }
  return { outcome: "sent", parts, addresses: [] };
};

export const ADAPTERS = { telegram: { ...telegram, countParts, send }, whatsapp: { ...whatsapp, countParts, send } };

export const networkOf = () => ({ base: "" });
