import type { Outbound } from "../../../src/channels/adapter.ts";

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
      partsSent: [],
      ...fields,
    };
  };
}
