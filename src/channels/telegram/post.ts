import * as z from "zod/mini";
import type { Credentials } from "../../model/channel.ts";
import type { PartOutcome } from "../../model/network.ts";
import type { FilesPort, Network } from "../network/adapter.ts";
import { call, callWithFile } from "./call.ts";
import { refusalOfAnswer } from "./errors.ts";
import { messageNumberOf, networkIdOf } from "./network-id.ts";
import type { TelegramPart } from "./render.ts";

const sentMessage = z.object({ message_id: z.int() });

/** Makes the call for a part; never throws. A message that Telegram no longer has is not quoted. */
export async function postToTelegram(
  { method, body, file, quote }: TelegramPart,
  { botToken = "" }: Credentials,
  network: Network,
  signal: AbortSignal,
  files: FilesPort,
): Promise<PartOutcome> {
  const quoted = quote === undefined ? null : messageNumberOf(quote, botToken, body.chat_id);
  const reply = quoted !== null && {
    reply_parameters: { message_id: quoted, allow_sending_without_reply: true },
  };
  const whole = { ...body, ...reply };
  const answer = file
    ? await callWithFile(method, whole, file, botToken, network, signal, files)
    : await call(method, whole, botToken, network, signal);
  if ("outcome" in answer) return answer;
  if (answer.answer !== "ok") return refusalOfAnswer(answer, body.chat_id, body.message_thread_id?.toString());
  const sent = sentMessage.safeParse(answer.result);
  if (!sent.success) return { outcome: "unknown", message: "Telegram's answer has no message id" };
  return { outcome: "sent", id: networkIdOf(botToken, body.chat_id, sent.data.message_id), addresses: [] };
}
