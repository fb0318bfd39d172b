import type { Adapter, Outbound } from "../../../src/channels/adapter.ts";
import { countParts, sendParts } from "../../../src/chats/object/delivery/send-parts.ts";

/** Makes messages to send to an address, texts unless told otherwise; `text` is `content` unless it is given. */
export function outboundTo(address: string): (fields?: Partial<Outbound>) => Outbound {
  return function outbound(fields = {}) {
    const content = fields.content ?? "Hi";
    return {
      chatId: "cht_g0123456789ABCDE",
      messageId: "msg_g0123456789ABCDE",
      address,
      type: "TEXT",
      content,
      mediaUrl: null,
      text: content,
      template: null,
      interactive: null,
      location: null,
      contacts: null,
      quote: null,
      partsSent: [],
      ...fields,
    };
  };
}

/** An adapter that sends whole messages, as a chat lets it. */
export function sending(adapter: Adapter) {
  return {
    ...adapter,
    countParts: (message: Outbound) => countParts(adapter, message),
    send: (message: Outbound, ...rest: SendArguments) => sendParts(adapter, message, ...rest),
  };
}

type SendArguments = Parameters<typeof sendParts> extends [unknown, unknown, ...infer Rest] ? Rest : never;
