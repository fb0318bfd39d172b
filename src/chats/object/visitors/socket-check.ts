import { callObject, NEARBY } from "../../../calls/call-object.ts";
import { SOCKET_REFUSALS, type SocketPolicy, socketRefusalOf } from "../../../channels/web/socket-policy.ts";
import type { ChatIdentity } from "../../../model/chat-answers.ts";
import type { Visitor } from "../../../model/visitor.ts";
import { isRecent } from "../../../platform/clock.ts";
import { causeOf } from "../../../platform/log.ts";
import { attached } from "./attachment.ts";
import { close, TRY_LATER } from "./closing.ts";

export type ChannelWords = Pick<SocketPolicy, "stopWords" | "away">;

/** How long a check stays valid, in milliseconds. */
const VALID_MS = 10_000;
/** The pause after a check that failed because the channel did not answer, in milliseconds. */
const RETRY_MS = 1_000;
/** How long a socket stays open after its last successful check if the channel does not answer, in milliseconds. */
const GRACE_MS = 3_600_000;

/**
 * Checks that open sockets would still be accepted. Asks the channel's object at most every 10 seconds, and only if a
 * frame is about to pass in either direction. The frame waits for the answer, and a socket that would be refused is
 * closed first. So an idle socket costs nothing, and 10 seconds after an origin or a secret was removed no frame passes.
 */
export class SocketCheck {
  readonly #parts: { env: Env; ctx: DurableObjectState };
  readonly #openSockets: () => WebSocket[];
  /** When each socket last passed a check, Unix milliseconds. It is in memory, so an object that wakes up checks again. */
  readonly #passedAt = new WeakMap<WebSocket, number>();
  #failedAt = Number.NEGATIVE_INFINITY;
  /** The channel's policy at the last check. */
  #policy: SocketPolicy | null = null;
  /** The actions that wait for the current check, in order; null if no check is running. */
  #waiting: (() => void)[] | null = null;

  /** @param openSockets the open sockets, all of one visitor */
  constructor(parts: { env: Env; ctx: DurableObjectState }, openSockets: () => WebSocket[]) {
    this.#parts = parts;
    this.#openSockets = openSockets;
  }

  /** Runs `action` after a check; at once if the last check is still valid. Actions keep their order. */
  afterCheck(action: () => void): void {
    if (this.#waiting) {
      this.#waiting.push(action);
    } else if (!this.#isDue(Date.now())) {
      action();
    } else {
      this.#waiting = [action];
      this.#parts.ctx.waitUntil(this.#check());
    }
  }

  /** What the channel does with a visitor's words, as it is known for a socket. */
  wordsOf(socket: WebSocket): ChannelWords {
    return this.#policy ?? attached(socket).admission;
  }

  #isDue(now: number): boolean {
    if (isRecent(this.#failedAt, RETRY_MS, now)) return false;
    return this.#openSockets().some((socket) => !isRecent(this.#lastPassedAt(socket), VALID_MS, now));
  }

  /** The time of the last check, or of the admission. */
  #lastPassedAt(socket: WebSocket): number {
    return this.#passedAt.get(socket) ?? attached(socket).admission.readAt;
  }

  /** Never throws. */
  async #check(): Promise<void> {
    const { env } = this.#parts;
    const now = Date.now();
    const [first] = this.#openSockets().map(attached);
    try {
      if (first) {
        const { channelId, admission } = first;
        const asked = { withFingerprints: admission.fingerprint !== null };
        const policy = await callObject(
          env.CHANNELS,
          channelId,
          (channel) => channel.socketPolicy(channelId, asked),
          NEARBY,
        );
        this.#policy = policy;
        for (const socket of this.#openSockets()) {
          const refusal = socketRefusalOf(attached(socket).admission, policy);
          if (refusal) close(socket, SOCKET_REFUSALS[refusal]);
          else this.#passedAt.set(socket, now);
        }
      }
    } catch (error) {
      console.warn({ event: "socket_check_failed", channelId: first?.channelId, error: causeOf(error) });
      this.#failedAt = now;
      for (const socket of this.#openSockets()) {
        if (!isRecent(this.#lastPassedAt(socket), GRACE_MS, now)) close(socket, TRY_LATER);
      }
    }
    const waiting = this.#waiting ?? [];
    this.#waiting = null;
    for (const action of waiting) {
      try {
        action();
      } catch (error) {
        console.error({ event: "frame_not_sent", channelId: first?.channelId, error: causeOf(error) });
      }
    }
  }
}

/**
 * Whether a chat belongs to this visitor, or was not adopted yet. A chat's id is a hash of 89 bits, so the address,
 * the channel and the organization are compared too.
 */
export function isOwner(
  visitor: Pick<Visitor, "address" | "channelId" | "organizationId">,
  chat: ChatIdentity | undefined,
): boolean {
  if (!chat) return true;
  const { organizationId, channelId, address } = visitor;
  return chat.organizationId === organizationId && chat.channelId === channelId && chat.contactAddress === address;
}
