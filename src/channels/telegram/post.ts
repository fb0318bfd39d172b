import * as z from "zod/mini";
import type { Credentials } from "../../model/channel.ts";
import type { PartOutcome, PartRefusal } from "../../model/network.ts";
import type { FilesPort, Network } from "../network/adapter.ts";
import { call, callWithFile, type TelegramAnswer } from "./call.ts";
import { refusalOfAnswer } from "./errors.ts";
import { messageNumberOf, networkIdOf } from "./network-id.ts";
import type { TelegramPart } from "./render.ts";

/** Telegram's refusals of a link. @see https://core.telegram.org/bots/api#sending-files */
const NOT_FETCHED = /failed to get HTTP URL content|wrong type of the web page content/i;
const MEDIA_FIELD = /^(?:photo|document|audio|video|voice)$/;

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
  let answer = file
    ? await callWithFile(method, whole, file, botToken, network, signal, files)
    : await call(method, whole, botToken, network, signal);
  const field = Object.keys(body).find((name) => MEDIA_FIELD.test(name));
  if (field && "answer" in answer && answer.answer === "refused" && NOT_FETCHED.test(answer.description)) {
    answer = await postLinked(method, whole, field, answer, botToken, network, signal, files);
  }
  if ("outcome" in answer) return answer;
  if (answer.answer !== "ok") return refusalOfAnswer(answer, body.chat_id, body.message_thread_id?.toString());
  const sent = sentMessage.safeParse(answer.result);
  if (!sent.success) return { outcome: "unknown", message: "Telegram's answer has no message id" };
  return { outcome: "sent", id: networkIdOf(botToken, body.chat_id, sent.data.message_id), addresses: [] };
}

/** Sends the file behind a link that Telegram could not fetch, and so did not send. */
async function postLinked(
  method: string,
  body: TelegramPart["body"],
  field: string,
  refused: TelegramAnswer & { answer: "refused" },
  token: string,
  network: Network,
  signal: AbortSignal,
  files: FilesPort,
): Promise<TelegramAnswer | PartRefusal> {
  const { [field]: link, ...fields } = body;
  const linked = await files.openLink(String(link), signal);
  if (typeof linked === "string") {
    return { ...refused, description: `${refused.description}. The service can't fetch the file either: ${linked}` };
  }
  const { contentType, size, fileName } = linked;
  const file = { id: "", contentType, size, fileName, width: null, height: null };
  const open = () => Promise.resolve(linked);
  const sent = await callWithFile(method, fields, { field, file }, token, network, signal, { open });
  // A server that breaks off each time must not hold up the chat.
  return "outcome" in sent && sent.outcome === "retry" ? { ...sent, once: true } : sent;
}
