import type { FilesPort } from "../../../channels/network/adapter.ts";
import type { Credentials } from "../../../model/channel.ts";
import type { Message } from "../../../model/message.ts";
import type { Outbound, Outcome } from "../../../model/network.ts";
import type { Clock } from "../../../platform/clock.ts";
import { withDeadline } from "../../../platform/deadline.ts";
import type { MessageLog } from "../log/message-log.ts";
import { isSameAttempt, known, partsKept } from "./head.ts";
import { type FileStore, fileOfMedia, type MessageFiles } from "./message-files.ts";
import { type Known, type Parts, partOut, type Upload } from "./parts.ts";
import type { ChannelAccess, Granted } from "./permit.ts";
import { ATTEMPT_TIMEOUT_MS, type Delivery, type DeliveryError, type DeliveryPolicy } from "./retry.ts";
import type { DeliveryKnown, QueuedMessage } from "./row.ts";

const NO_ANSWER = "The network did not answer in time";

/** Sends one message; see `sendParts`. */
export type SendCall = (
  message: Outbound,
  credentials: Credentials,
  signal: AbortSignal,
  files: FilesPort,
  onPart: (networkId: string) => void,
) => Promise<Outcome>;

export interface NetworkPort extends DeliveryPolicy {
  /** The number of calls that a message takes. */
  countParts(message: Outbound): number;
  /** @throws if the network's address is misconfigured; then no attempt was made */
  connect(): SendCall;
}

/** A chat, as its outbox uses it. */
export interface OutboxHost extends ChannelAccess {
  log: MessageLog;
  network: NetworkPort;
  files: FileStore;
  clock: Clock;
  /** False after the chat was deleted. Then the log is gone too. */
  exists(): boolean;
  /** Sets the alarm to `at` or earlier. */
  standBy(at: number): Promise<void>;
  /** The contact's current address. */
  address(): string;
  /** Saves further addresses of the contact. If `moved`, the first one replaces the current address. */
  learn(addresses: string[], moved: boolean): void;
  /** Counts an attempt that has ended. */
  attempted(outcome: Outcome): void;
  /** Stores a message's new status together with the state of its delivery. */
  change(message: Message, status: Message["status"], error: DeliveryError | null, known?: DeliveryKnown): void;
}

/** Calls the network; never throws. Each part's id is stored before the call for the next part. */
export async function callNetwork(
  host: OutboxHost,
  head: QueuedMessage & { parts: Parts },
  started: Delivery,
  { credentials }: Granted,
  send: SendCall,
  files: MessageFiles,
): Promise<Outcome> {
  const { log } = host;
  const message = outbound(host, head);
  const sent = [...message.partsSent];
  const onPart = (id: string) => {
    sent.push(id);
    // The last part is stored with the outcome.
    if (sent.length === head.parts.of || !host.exists()) return;
    const current = log.delivered(head.seq);
    if (!isSameAttempt(current, started)) return;
    const before = withUpload(knownOf(host, current, head.parts.of), files.upload);
    // The output gate delays the next call until this is on disk.
    save(host, current, before, partOut(before, sent.length - 1, id));
  };
  try {
    return await withDeadline(host.clock, ATTEMPT_TIMEOUT_MS, (signal) =>
      send(message, credentials, signal, files, onPart),
    );
  } catch {
    return { outcome: "unknown", message: NO_ANSWER, parts: [...sent] };
  }
}

/** The state of a message's delivery. @param of the number of parts; a redacted message no longer shows it */
export function knownOf(host: OutboxHost, row: QueuedMessage, of?: number): Known {
  return known(row, of ?? row.parts.of ?? host.network.countParts(outbound(host, row)));
}

/** The state with the upload of the message's file, which is stored with what the attempt sent. */
export function withUpload(known: Known, upload: Upload | undefined): Known {
  return upload ? { ...known, parts: { ...known.parts, upload } } : known;
}

/** Stores a message's new state, if it differs from the old one. */
export function save(host: OutboxHost, row: QueuedMessage, before: Known, after: Known): void {
  const { seq, message, delivery, lastError } = row;
  const parts = after.parts === before.parts ? null : partsKept(after);
  if (after.status !== before.status || after.error !== before.error) {
    host.change(message, after.status, after.error, parts ? { delivery, parts, lastError } : undefined);
  } else if (parts) host.log.writeDelivery(seq, { delivery, parts, lastError });
}

function outbound(host: OutboxHost, { seq, message, parts, template }: QueuedMessage): Outbound {
  const { chatId } = host.identity;
  const { id: messageId, type, content, mediaUrl, text, replyTo } = message;
  const { interactive = null, location = null, contacts = null } = message;
  const { log } = host;
  const quoted = replyTo === undefined ? null : log.byId(replyTo);
  const quote = quoted && log.networkIds.of(quoted.seq);
  const file = type === "TEXT" ? null : fileOfMedia(log.mediaOf(seq));
  const said = { type, content, mediaUrl, file, text, template, interactive, location, contacts };
  return { chatId, messageId, address: host.address(), ...said, quote, partsSent: parts.ids };
}
