import type { Adapter } from "../../../src/channels/network/adapter.ts";
import { telegram } from "../../../src/channels/telegram/adapter.ts";
import { whatsapp } from "../../../src/channels/whatsapp/adapter.ts";
import { platform } from "../objects/globals.ts";

/** Replaces `src/channels/registry.ts`: networks that answer what the simulation decides. */

interface Part {
  messageId: string;
  part: number;
}

/** Media has two parts, all else one. */
const decided: Pick<Adapter<Part>, "render" | "post"> = {
  render: ({ messageId, body }) => (body.kind === "media" ? [0, 1] : [0]).map((part) => ({ messageId, part })),
  post: ({ messageId, part }, _credentials, _network, signal) => platform.send(messageId, part, signal),
};

export const ADAPTERS = { telegram: { ...telegram, ...decided }, whatsapp: { ...whatsapp, ...decided } };

export const networkOf = () => ({ base: "" });
