import type { Network } from "../../../channels/network/adapter.ts";
import type { Outcome } from "../../../model/network.ts";
import { withDeadline } from "../../../platform/deadline.ts";
import type { Delivery, QueuedMessage } from "../log/delivery-column.ts";
import { epochAfter, isSameAttempt, judged } from "./head.ts";
import { MessageFiles } from "./message-files.ts";
import type { NetworkChat } from "./network-chat.ts";
import { type Known, partOut } from "./parts.ts";
import type { Granted } from "./permit.ts";
import { ATTEMPT_TIMEOUT_MS } from "./retry.ts";
import { sendParts } from "./send-parts.ts";

const NO_ANSWER = "The network did not answer in time";

export class DeliveryAttempt {
  /** The index of the first part that it sends. */
  readonly first: number;
  /** The number of the message's parts. */
  readonly of: number;
  readonly calledAt: number;
  /** The channel's epoch. A successful probe starts a new one. */
  epoch: number;
  /** The reason in a status that reported the channel as broken during the attempt; null if none did. */
  broken: string | null = null;
  readonly #chat: NetworkChat;
  readonly #head: QueuedMessage;
  readonly #started: Delivery;
  readonly #permit: Granted;
  readonly #files: MessageFiles;

  /** @param started the stored state of the message's delivery, in which the attempt is open */
  constructor(chat: NetworkChat, head: QueuedMessage, started: Delivery, permit: Granted) {
    const { parts } = chat.known(head);
    this.first = parts.ids.length;
    this.of = parts.of;
    this.epoch = permit.epoch;
    this.#chat = chat;
    this.#head = { ...head, parts };
    this.#started = started;
    this.#permit = permit;
    this.#files = new MessageFiles(chat, head);
    this.calledAt = chat.parts.clock.now();
  }

  get seq(): number {
    return this.#head.seq;
  }

  /** Calls the network; never throws. Each part's id is stored before the call for the next part. */
  async call(network: Network): Promise<Outcome> {
    const message = this.#chat.outbound(this.#head);
    const { adapter, parts } = this.#chat;
    const sent = [...message.partsSent];
    const onPart = (id: string) => {
      sent.push(id);
      // The last part is stored with the outcome.
      if (sent.length !== this.of) this.#store(sent.length - 1, id);
    };
    const answer = await withDeadline(parts.clock, ATTEMPT_TIMEOUT_MS, (signal) =>
      sendParts(adapter, message, this.#permit.credentials, network, signal, this.#files, onPart),
    ).catch((): Outcome => ({ outcome: "unknown", message: NO_ANSWER, parts: [...sent] }));
    const outcome = judged(answer, this.#permit, this.#head.delivery.brokenEpoch ?? null);
    this.epoch = epochAfter(this.#permit, outcome);
    return outcome;
  }

  /** The state of the message's delivery, with the upload of its file: it is stored with what the attempt sent. */
  known(row: QueuedMessage): Known {
    const state = this.#chat.known(row, this.of);
    const { upload } = this.#files;
    return upload ? { ...state, parts: { ...state.parts, upload } } : state;
  }

  /** The message, if its row still shows this attempt. If not, the outcome has already been decided. */
  current(): QueuedMessage | null {
    const current = this.#chat.parts.log.delivered(this.seq);
    return isSameAttempt(current, this.#started) ? current : null;
  }

  #store(index: number, id: string): void {
    const current = this.#chat.exists() ? this.current() : null;
    if (!current) return;
    const before = this.known(current);
    // The output gate delays the next call until this is on disk.
    this.#chat.save(current, before, partOut(before, index, id));
  }
}
