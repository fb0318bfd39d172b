import { SOCKET_REFUSALS } from "../../channels/web/admit.ts";
import { socketRefusalOf } from "../../channels/web/socket-policy.ts";
import type { Visitor } from "../../channels/web/visitor.ts";
import { causeOf } from "../../log.ts";
import { callObject } from "../../platform/call-object.ts";
import type { ChatIdentity } from "../identity.ts";
import { close, TRY_LATER } from "./closing.ts";

/** How long a check stays valid, in milliseconds. */
const HOLD_MS = 10_000;
/** The pause after a check that failed because the channel did not answer, in milliseconds. */
const AGAIN_MS = 1_000;
/** How long a socket stays open after its last good check while the channel does not answer, in milliseconds. */
const KNOWN_FOR_MS = 3_600_000;

/** What is needed of the sockets' owner. */
export interface AdmittanceHost {
  env: Env;
  waitUntil: (work: Promise<unknown>) => void;
  /** The open sockets, all of one visitor, each with what the Worker found out of it. */
  open: () => { socket: WebSocket; visitor: Visitor }[];
}

/**
 * Checks that open sockets would still be accepted. Asks the channel's object at most every 10 seconds, and only when a
 * frame is about to pass in either direction. The frame waits for the answer, and a socket that would be refused is
 * closed first. So an idle socket costs nothing, and 10 seconds after an origin or a secret was removed no frame passes.
 */
export class Admittance {
  readonly #host: AdmittanceHost;
  /** When each socket was found welcome last, where that was after it was let in. In memory: an object that wakes asks. */
  readonly #foundAt = new WeakMap<WebSocket, number>();
  #failedAt = Number.NEGATIVE_INFINITY;
  /** What waits for the answer that is awaited, in order; null while none is. */
  #waiting: (() => void)[] | null = null;

  constructor(host: AdmittanceHost) {
    this.#host = host;
  }

  /** Runs `act` with none but welcome sockets open: at once where they were lately found so. The order of calls stays. */
  when(act: () => void): void {
    if (this.#waiting) {
      this.#waiting.push(act);
    } else if (!this.#isDue(Date.now())) {
      act();
    } else {
      this.#waiting = [act];
      this.#host.waitUntil(this.#ask());
    }
  }

  #isDue(now: number): boolean {
    if (isRecent(this.#failedAt, AGAIN_MS, now)) return false;
    return this.#host.open().some(({ socket, visitor }) => !isRecent(this.#knownAt(socket, visitor), HOLD_MS, now));
  }

  #knownAt(socket: WebSocket, { admission }: Visitor): number {
    return this.#foundAt.get(socket) ?? admission.at;
  }

  /** Never throws. */
  async #ask(): Promise<void> {
    const { env, open } = this.#host;
    const now = Date.now();
    const [one] = open();
    try {
      if (one) {
        const { channelId, admission } = one.visitor;
        const asked = { withMarks: admission.mark !== null };
        const terms = await callObject(env.CHANNELS, channelId, (channel) => channel.terms(channelId, asked));
        for (const { socket, visitor } of open()) {
          const refusal = socketRefusalOf(visitor.admission, terms);
          if (refusal) close(socket, SOCKET_REFUSALS[refusal]);
          else this.#foundAt.set(socket, now);
        }
      }
    } catch (error) {
      console.warn({ event: "sockets_not_checked", channelId: one?.visitor.channelId, error: causeOf(error) });
      this.#failedAt = now;
      for (const { socket, visitor } of open()) {
        if (!isRecent(this.#knownAt(socket, visitor), KNOWN_FOR_MS, now)) close(socket, TRY_LATER);
      }
    }
    const waiting = this.#waiting ?? [];
    this.#waiting = null;
    for (const act of waiting) act();
  }
}

function isRecent(at: number, within: number, now: number): boolean {
  return at <= now && now - at < within;
}

/**
 * Whether a chat is this visitor's, or nobody's yet. A chat's id is a hash of 89 bits and the directory can be wrong, so
 * the address, the channel and the organization are compared too.
 */
export function isOwner(visitor: Visitor, chat: ChatIdentity | undefined): boolean {
  if (!chat) return true;
  const { organizationId, channelId, address } = visitor;
  return chat.organizationId === organizationId && chat.channelId === channelId && chat.contactAddress === address;
}
