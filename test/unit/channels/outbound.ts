import type { Adapter, FilesPort, Network } from "../../../src/channels/network/adapter.ts";
import { countParts, sendParts } from "../../../src/chats/object/delivery/send-parts.ts";
import type { Credentials } from "../../../src/model/channel.ts";
import type { OutboundFile } from "../../../src/model/file.ts";
import type { Outbound } from "../../../src/model/network.ts";

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
      file: null,
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
    send: (
      message: Outbound,
      credentials: Credentials,
      network: Network,
      signal: AbortSignal,
      onPart?: (networkId: string) => void,
      files: FilesPort = NO_FILES,
    ) => sendParts(adapter, message, credentials, network, signal, files, onPart),
  };
}

/** A file of 1,000 bytes, as a message sends it. */
export const FILE: OutboundFile = {
  ...{ id: "med_g0123456789ABCDE", contentType: "application/pdf", size: 1_000, fileName: "plan.pdf" },
  ...{ width: null, height: null },
};
export const BYTES = Uint8Array.from({ length: FILE.size }, (_, index) => index % 256);

/** The files of a message: `FILE`, unless told otherwise. `kept`: what the network's ids of uploads are. */
export function files(fields: Partial<FilesPort> = {}) {
  const kept: [string, string, number][] = [];
  const port: FilesPort = {
    open: async () => ({ body: new Blob([BYTES]).stream(), size: FILE.size }),
    openLink: () => Promise.reject(new Error("a link was opened")),
    uploaded: () => null,
    keep: (...each) => void kept.push(each),
    ...fields,
  };
  return { ...port, kept };
}

/** The files of messages without any. */
export const NO_FILES: FilesPort = {
  open: () => Promise.reject(new Error("a file was opened")),
  openLink: async () => "there is none",
  uploaded: () => null,
  keep() {},
};
