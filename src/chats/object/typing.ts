import { callOrganization } from "../../calls/call-organization.ts";
import type { ChatIdentity } from "../../model/chat-answers.ts";
import { type TypingBy, typingNews } from "../../model/typing.ts";
import { isRecent } from "../../platform/clock.ts";
import type { ContactAddresses } from "./contact-addresses.ts";
import type { Adoption } from "./identity.ts";
import type { StoredDetails } from "./stored-details.ts";

/** Minimum time between two typing events of one writer. */
const EVERY_MS = 5_000;
/** Minimum time between two typing events of any writers while no stream is open. */
const EVERY_UNHEARD_MS = 30_000;

const NEVER = Number.NEGATIVE_INFINITY;

interface Parts {
  env: Env;
  ctx: Pick<DurableObjectState, "waitUntil">;
  adoption: Pick<Adoption, "identity">;
  contact: Pick<ContactAddresses, "current">;
  details: Pick<StoredDetails, "details">;
}

/** Reports typing to the organization's streams. Nothing is stored, and a report that fails is dropped. */
export class Typing {
  readonly #parts: Parts;
  /** When each recent writer was reported, by type and id. */
  #toldAt = new Map<string, number>();
  #unheardAt = NEVER;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** The contact writes. */
  byContact(): void {
    this.#announce("contact", () => ({ type: "contact", id: null, name: this.#parts.details.details()?.name ?? null }));
  }

  /** Somebody of the company writes. Never throws, and waits for nothing. */
  announce(by: TypingBy): void {
    this.#announce(`${by.type} ${by.id}`, () => by);
  }

  /** @param who is called only if the typing is reported */
  #announce(writer: string, who: () => TypingBy): void {
    const identity = this.#parts.adoption.identity();
    const now = Date.now();
    if (!identity || isRecent(this.#unheardAt, EVERY_UNHEARD_MS, now)) return;
    for (const [one, at] of this.#toldAt) if (!isRecent(at, EVERY_MS, now)) this.#toldAt.delete(one);
    if (this.#toldAt.has(writer)) return;
    this.#toldAt.set(writer, now);
    this.#parts.ctx.waitUntil(this.#notify(identity, who, now));
  }

  forget(): void {
    this.#toldAt = new Map();
    this.#unheardAt = NEVER;
  }

  async #notify(identity: ChatIdentity, who: () => TypingBy, at: number): Promise<void> {
    const toldAt = this.#toldAt;
    const { organizationId, chatId: id, life, channelId, channelKind } = identity;
    try {
      const chat = { id, life, channelId, channelKind, contactAddress: this.#parts.contact.current(identity) };
      const news = JSON.stringify(typingNews({ organizationId, chat }, who(), at));
      const isHeard = await callOrganization(this.#parts.env, organizationId, (object) => object.typing(news));
      // The chat may have been deleted meanwhile.
      if (this.#toldAt === toldAt) this.#unheardAt = isHeard ? NEVER : at;
    } catch {
      // Nobody misses it. The next one is reported again.
    }
  }
}
