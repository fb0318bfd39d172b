import * as z from "zod/mini";
import type { Credentials, Network, PartOutcome } from "../adapter.ts";
import { call } from "./call.ts";
import { refusalOfAnswer } from "./errors.ts";
import { networkIdOf } from "./network-id.ts";
import type { TelegramPart } from "./render.ts";

const sentMessage = z.object({ message_id: z.int() });

/** Makes the call for a part; never throws. */
export async function postToTelegram(
  { method, body }: TelegramPart,
  { botToken = "" }: Credentials,
  network: Network,
  signal: AbortSignal,
): Promise<PartOutcome> {
  const answer = await call(method, body, botToken, network, signal);
  if (answer.answer !== "ok") return refusalOfAnswer(answer, body.chat_id);
  const sent = sentMessage.safeParse(answer.result);
  if (!sent.success) return { outcome: "unknown", message: "Telegram's answer has no message id" };
  return { outcome: "sent", id: networkIdOf(botToken, body.chat_id, sent.data.message_id), addresses: [] };
}
