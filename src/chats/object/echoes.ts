import type { ChatIdentity, EchoAnswer, EchoDraft, Unknown } from "../../model/chat-answers.ts";
import type { Clock } from "../../platform/clock.ts";
import { causeOf, type Logger } from "../../platform/log.ts";
import type { DuePart } from "../../platform/object/due-work.ts";
import type { DeliveryQueue } from "./delivery/queue.ts";
import type { Handover } from "./handover.ts";
import { type HeldEcho, HeldEchoes } from "./held-echoes.ts";
import type { Adoption } from "./identity.ts";
import type { ChatTables } from "./log/chat-tables.ts";
import { inboundFields } from "./log/inbound-fields.ts";
import { isFull } from "./log/limits.ts";
import type { MessageLog } from "./log/message-log.ts";
import { receivedDedupe } from "./log/network-ids.ts";
import { echoedMessage, nextPosition } from "./log/new-message.ts";
import type { NewMessage } from "./log/rows.ts";

/** The longest that an echo waits for the outcome of a message of the chat. */
export const MAX_HELD_MS = 90_000;

interface Parts {
  tables: ChatTables;
  log: MessageLog;
  queue: Pick<DeliveryQueue, "isOutcomeOpen">;
  adoption: Pick<Adoption, "identity">;
  handover: Pick<Handover, "takenOver">;
  scheduled: { handedOver(): void };
  clock: Clock;
  logger: Logger;
}

/**
 * What the company writes elsewhere, as its network reports it. Each takes the next place in the chat, once.
 *
 * While the chat does not know under which ids a message of its own is at the network, an echo may be that message. So it
 * is held until that outcome is known, 90 seconds at most, and dropped if it bears one of those ids.
 */
export class Echoes implements DuePart {
  readonly #parts: Parts;
  readonly #held: HeldEchoes;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#held = new HeldEchoes(parts.tables);
  }

  /** Stores an echo, or holds it. One that the network repeats is stored once. */
  receive(identity: ChatIdentity, draft: EchoDraft): Exclude<EchoAnswer, Unknown> {
    const { clock, log, queue } = this.#parts;
    this.onOutcome();
    if (this.#isKnown(draft)) return { outcome: "repeated" };
    if (isFull(log)) return { outcome: "chat_full" };
    // One that could not be placed must not be overtaken.
    if (queue.isOutcomeOpen || this.hasSoon) {
      this.#held.add(draft, clock.now());
      return { outcome: "held" };
    }
    this.#place(identity, draft);
    return { outcome: "stored" };
  }

  /** Whether an echo with this id at the network waits for its place. */
  isHeld(networkId: string): boolean {
    return this.#held.has(networkId);
  }

  /** Whether one is about to take its place. */
  get hasSoon(): boolean {
    return this.#held.since() !== null;
  }

  /** An attempt ended, or its outcome became known. Never throws: after a fault the alarm does it. */
  onOutcome(): void {
    const { adoption, logger } = this.#parts;
    const identity = adoption.identity();
    try {
      if (identity) this.#release(identity);
    } catch (error) {
      this.#held.forget();
      logger.error({ event: "echo_not_placed", chatId: identity?.chatId, error: causeOf(error) });
    }
  }

  /** When the last moment comes for those that are held; null if none is. It depends on what is stored alone. */
  latestAt(): number | null {
    const since = this.#parts.adoption.identity() ? this.#held.since() : null;
    return since === null ? null : since + MAX_HELD_MS;
  }

  dueAt(now: number): number | null {
    const latestAt = this.latestAt();
    if (latestAt === null) return null;
    const mustWait = mayWait(latestAt - MAX_HELD_MS, now) && this.#parts.queue.isOutcomeOpen;
    return mustWait ? latestAt : now;
  }

  run(): void {
    const identity = this.#parts.adoption.identity();
    if (identity) this.#release(identity);
  }

  forget(): void {
    this.#held.forget();
  }

  /** Gives those that need not wait any longer their places, in order. */
  #release(identity: ChatIdentity): void {
    const { clock, queue } = this.#parts;
    const isOpen = queue.isOutcomeOpen;
    const since = this.#held.since();
    if (since === null || (isOpen && mayWait(since, clock.now()))) return;
    for (const { n, draft, heldAt } of this.#held.all()) {
      if (isOpen && mayWait(heldAt, clock.now())) return;
      if (this.#isStored(draft)) this.#held.remove(n);
      else this.#placeHeld(identity, draft, n, heldAt);
    }
  }

  /** Those behind it wait for it. So one that can't be placed as it is gets its place with its text alone in the end. */
  #placeHeld(identity: ChatIdentity, draft: EchoDraft, n: number, heldAt: number): void {
    const { clock, logger } = this.#parts;
    try {
      this.#place(identity, draft, n);
    } catch (error) {
      if (mayWait(heldAt, clock.now())) throw error;
      logger.error({ event: "echo_without_details", chatId: identity.chatId, error: causeOf(error) });
      this.#place(identity, { ...draft, extra: {} }, n);
    }
  }

  #isKnown(draft: EchoDraft): boolean {
    return this.#isStored(draft) || this.#held.has(draft.dedupe);
  }

  #isStored({ dedupe }: EchoDraft): boolean {
    return this.#parts.log.networkIds.message(dedupe) !== null;
  }

  /** @param held its place among those that were held; absent for one that was not */
  #place(identity: ChatIdentity, draft: EchoDraft, held?: HeldEcho["n"]): void {
    const { clock, handover, log, scheduled } = this.#parts;
    const position = nextPosition(log.newest(), identity, clock.now());
    const message = echoedMessage(draft, inboundFields(log, draft.extra), position);
    // Who wrote in the company's app is not known, but it was a person.
    const changes = draft.writtenIn === "app" ? handover.takenOver(null) : null;
    const row: NewMessage = {
      message,
      changes,
      dedupe: receivedDedupe(draft.dedupe),
      fingerprint: null,
      template: null,
      delivery: null,
      media: draft.media,
      ...(held !== undefined && { unhold: () => this.#held.remove(held) }),
    };
    log.append(row);
    if (changes) scheduled.handedOver();
  }
}

/** Whether its time is not over. The next instance's clock may be behind. */
function mayWait(heldAt: number, now: number): boolean {
  return Math.abs(now - heldAt) < MAX_HELD_MS;
}
