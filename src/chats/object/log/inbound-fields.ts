import type { InboundExtra } from "../../../model/chat-answers.ts";
import { parseTap, type Tap } from "../../../model/content.ts";
import type { Message, TappedChoice } from "../../../model/message.ts";
import type { MessageLog } from "./message-log.ts";
import type { InboundFields } from "./new-message.ts";

/** What this needs of the log. */
type Log = Pick<MessageLog, "byId" | "networkIds">;

/** The fields of a contact's message besides text and media, with the messages that it is about looked up. */
export function inboundFields(log: Log, extra: InboundExtra = {}): InboundFields {
  const { tap, quote: _quote, replyTo: _replyTo, ...said } = extra;
  const choice = tap && tappedChoice(log, tap);
  const replyTo = choice?.messageId ?? repliedTo(log, extra);
  return {
    ...(replyTo !== null && { replyTo }),
    ...(choice && { choice }),
    ...said,
  };
}

/** The message that a contact's message quotes; null if it quotes none that the chat has. */
function repliedTo(log: Log, { quote, replyTo }: InboundExtra): string | null {
  if (replyTo !== undefined) return log.byId(replyTo) ? replyTo : null;
  const row = quote === undefined ? null : log.networkIds.message(quote);
  return row && (JSON.parse(row.doc) as Message).id;
}

/** The `id` is null if the tapped message no longer has the choice: the contact's app may show it for years. */
export function tappedChoice(log: Pick<Log, "byId">, { data, title }: Tap): TappedChoice {
  const tapped = parseTap(data);
  const row = tapped && log.byId(tapped.messageId);
  if (!row) return { id: null, title, messageId: null };
  const { id: messageId, direction, interactive } = JSON.parse(row.doc) as Message;
  const choice = direction === "OUTBOUND" ? interactive?.choices[tapped.index] : undefined;
  if (choice?.type !== "reply") return { id: null, title, messageId };
  return { id: choice.id, title: choice.title, messageId };
}
