import type { Network, Outbound, Outcome } from "../../channels/adapter.ts";
import { ADAPTERS } from "../../channels/registry.ts";
import type { QueuedMessage } from "../log/message-log.ts";
import { isSameAttempt, known, partsKept } from "./head.ts";
import type { OutboxHost } from "./outbox.ts";
import { type Known, type Parts, partOut } from "./parts.ts";
import type { Granted } from "./permit.ts";
import { ATTEMPT_TIMEOUT_MS, type Delivery } from "./schedule.ts";

/** After its deadline an attempt has this long to say what it knows. */
const LAST_WORDS_MS = 1_000;
const NO_ANSWER = "The network did not answer in time";

/** Calls the network; never throws. A part that went out is in the row before the call for the next one. */
export async function callNetwork(
  host: OutboxHost,
  head: QueuedMessage & { parts: Parts },
  started: Delivery,
  { credentials }: Granted,
  network: Network,
): Promise<Outcome> {
  const message = outbound(host, head);
  const out = [...message.partsSent];
  const onPart = (id: string) => {
    out.push(id);
    // The last one is written with the outcome.
    if (out.length === head.parts.of || !host.exists()) return;
    const current = host.log.delivered(head.seq);
    if (!isSameAttempt(current, started)) return;
    const before = knownOf(host, current, head.parts.of);
    // The output gate holds the next call until this is on disk.
    save(host, current, before, partOut(before, out.length - 1, id));
  };
  const adapter = ADAPTERS[host.identity.channelKind];
  try {
    return await withDeadline((signal) => adapter.send(message, credentials, network, signal, onPart));
  } catch {
    return { outcome: "unknown", message: NO_ANSWER, parts: [...out] };
  }
}

/** What a message's row knows. `of`: how many parts it has; one that was redacted since does not say so any more. */
export function knownOf(host: OutboxHost, row: QueuedMessage, of?: number): Known {
  return known(row, of ?? row.parts.of ?? ADAPTERS[host.identity.channelKind].partsOf(outbound(host, row)));
}

/** Writes what became of a message, as far as it is news. */
export function save(host: OutboxHost, row: QueuedMessage, before: Known, after: Known): void {
  const { seq, message, delivery, lastError } = row;
  const parts = after.parts === before.parts ? null : partsKept(after);
  if (after.status !== before.status || after.error !== before.error) {
    host.change(message, after.status, after.error, parts ? { delivery, parts, lastError } : undefined);
  } else if (parts) host.log.writeDelivery(seq, delivery, parts, lastError);
}

/** Not `AbortSignal.timeout`: its timer would keep the object in memory long after the answer. */
async function withDeadline<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const { promise: over, reject } = Promise.withResolvers<never>();
  const timers = [
    setTimeout(() => controller.abort(), ATTEMPT_TIMEOUT_MS),
    setTimeout(() => reject(new Error(NO_ANSWER)), ATTEMPT_TIMEOUT_MS + LAST_WORDS_MS),
  ];
  try {
    return await Promise.race([work(controller.signal), over]);
  } finally {
    timers.forEach(clearTimeout);
  }
}

function outbound(host: OutboxHost, { message, parts, template }: QueuedMessage): Outbound {
  const { chatId } = host.identity;
  const { id: messageId, type, content, mediaUrl, text } = message;
  return { chatId, messageId, address: host.address(), type, content, mediaUrl, text, template, partsSent: parts.ids };
}
