import { type TypingBy, typingNews } from "../../events/typing.ts";
import { callOrganization } from "../../organizations/call-organization.ts";
import { isRecent } from "../../platform/clock.ts";
import type { ChatIdentity } from "../rpc.ts";
import type { Adoption } from "./identity.ts";

/** A chat tells at most so often that somebody writes. */
const EVERY_MS = 5_000;
/** And so often if no stream is open. */
const EVERY_UNHEARD_MS = 30_000;

const NEVER = { at: Number.NEGATIVE_INFINITY, isHeard: true };

interface TypingHost {
  env: Env;
  adoption: Pick<Adoption, "identity">;
  address(identity: ChatIdentity): string;
  /** The contact's name, if a client has set it. */
  contactName(): string | null;
  waitUntil(work: Promise<void>): void;
}

/** Tells the organization's streams that somebody writes. Nothing is stored, and what can't be told is dropped. */
export class Typing {
  readonly #host: TypingHost;
  #last = NEVER;

  constructor(host: TypingHost) {
    this.#host = host;
  }

  /** The contact writes. */
  byContact(): void {
    this.#announce(() => ({ type: "contact", id: null, name: this.#host.contactName() }));
  }

  /** Somebody of the company writes. Never throws, and waits for nothing. */
  announce(by: TypingBy): void {
    this.#announce(() => by);
  }

  /** @param who is asked only if it is told */
  #announce(who: () => TypingBy): void {
    const identity = this.#host.adoption.identity();
    const now = Date.now();
    const { at, isHeard } = this.#last;
    if (!identity || isRecent(at, isHeard ? EVERY_MS : EVERY_UNHEARD_MS, now)) return;
    this.#last = { at: now, isHeard: true };
    this.#host.waitUntil(this.#tell(identity, who, this.#last));
  }

  /** The storage was deleted. */
  forget(): void {
    this.#last = NEVER;
  }

  async #tell(identity: ChatIdentity, who: () => TypingBy, told: typeof NEVER): Promise<void> {
    const { organizationId, chatId: id, life, channelId, channelKind } = identity;
    try {
      const chat = { id, life, channelId, channelKind, contactAddress: this.#host.address(identity) };
      const news = JSON.stringify(typingNews({ organizationId, chat }, who(), told.at));
      const isHeard = await callOrganization(this.#host.env, organizationId, (object) => object.typing(news));
      // The chat may have been deleted, or has told something since.
      if (this.#last === told) this.#last = { at: told.at, isHeard };
    } catch {
      // Nobody misses it. The next one is told again.
    }
  }
}
