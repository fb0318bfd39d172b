import type { Adapter } from "../../../src/channels/adapter.ts";
import { telegramSpec } from "../../../src/channels/telegram/spec.ts";
import { whatsappSpec } from "../../../src/channels/whatsapp/spec.ts";
import { platform } from "../objects/globals.ts";

/** Replaces `src/channels/registry.ts`: networks that answer what the simulation decides. */

const simulated: Pick<Adapter, "unknownWaitMs" | "countParts" | "send"> = {
  unknownWaitMs: 0,
  countParts: () => 1,
  send: ({ messageId }) => platform.send(messageId),
};

export const ADAPTERS = { telegram: { ...telegramSpec, ...simulated }, whatsapp: { ...whatsappSpec, ...simulated } };

export const networkOf = () => ({ base: "" });
