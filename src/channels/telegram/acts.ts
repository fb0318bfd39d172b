import type { Credentials } from "../../model/channel.ts";
import type { ActOutcome, ActTarget, NetworkAct } from "../../model/network.ts";
import type { Network } from "../network/adapter.ts";
import { call } from "./call.ts";
import { refusalOfAnswer } from "./errors.ts";
import { messageNumberOf } from "./network-id.ts";
import { inTopic } from "./render.ts";

const DEADLINE_MS = 10_000;

/** Shows a reaction or a typing indicator; never throws. A bot can't mark messages as read. */
export async function actOnTelegram(
  act: NetworkAct,
  target: ActTarget,
  { botToken = "" }: Credentials,
  network: Network,
  signal: AbortSignal,
): Promise<ActOutcome> {
  const request = requestOf(act, target, botToken);
  if (!request) return { outcome: "failed", code: "message_unknown", message: "Telegram does not have the message" };
  const { address, topic } = target;
  const [method, fields] = request;
  const answer = await call(method, { chat_id: address, ...fields }, botToken, network, signal);
  return answer.answer === "ok" ? { outcome: "done" } : refusalOfAnswer(answer, address, topic);
}

/** Stops the progress sign on a tapped button. Telegram refuses a late answer, which does no harm. */
export async function acknowledgeTap(receipt: string, { botToken = "" }: Credentials, network: Network): Promise<void> {
  await call(
    "answerCallbackQuery",
    { callback_query_id: receipt },
    botToken,
    network,
    AbortSignal.timeout(DEADLINE_MS),
  );
}

function requestOf(
  act: NetworkAct,
  { address, topic }: ActTarget,
  token: string,
): [string, Record<string, unknown>] | null {
  if (act.act === "typing") return ["sendChatAction", { ...inTopic(topic), action: "typing" }];
  const message_id = messageNumberOf(act.networkId, token, address);
  if (message_id === null || act.act === "read") return null;
  // Telegram's list has its emoji without variation selectors.
  const emoji = act.emoji?.replaceAll("\uFE0F", "");
  return ["setMessageReaction", { message_id, reaction: emoji === undefined ? [] : [{ type: "emoji", emoji }] }];
}
