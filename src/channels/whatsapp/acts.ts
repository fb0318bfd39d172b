import type { Credentials } from "../../model/channel.ts";
import type { ActOutcome, ActTarget, NetworkAct } from "../../model/network.ts";
import type { Network } from "../network/adapter.ts";
import { askWhatsApp } from "./post.ts";
import { addressed, type WhatsAppBody } from "./render.ts";

/** Shows a reaction, a read mark or a typing indicator; never throws. */
export async function actOnWhatsApp(
  act: NetworkAct,
  target: ActTarget,
  credentials: Credentials,
  network: Network,
  signal: AbortSignal,
): Promise<ActOutcome> {
  const body = bodyOf(act, target);
  if (!body) return { outcome: "not_shown" };
  const answer = await askWhatsApp(JSON.stringify(body), credentials, network, signal);
  return answer.outcome === "answered" ? { outcome: "done" } : answer;
}

/** Null if nothing can show it: a typing indicator belongs to a message of the contact. */
function bodyOf(act: NetworkAct, { chatId, address }: ActTarget): WhatsAppBody | null {
  if (act.act === "react") {
    return {
      ...addressed(address),
      biz_opaque_callback_data: `${chatId}.${act.messageId}.reaction.${act.at}`,
      type: "reaction",
      reaction: { message_id: act.networkId, emoji: act.emoji ?? "" },
    };
  }
  if (act.networkId === null) return null;
  const read = { messaging_product: "whatsapp", status: "read", message_id: act.networkId };
  return act.act === "read" ? read : { ...read, typing_indicator: { type: "text" } };
}
