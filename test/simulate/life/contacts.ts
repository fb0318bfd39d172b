import type { InboundDraft, MessageChange } from "../../../src/model/chat-answers.ts";
import type { SimulatedObject } from "../objects/object.ts";
import { CALLER, type Isolate, Requests } from "../objects/requests.ts";
import type { ContentJudge } from "./content-judge.ts";
import type { Service } from "./load-service.ts";
import { CHANNEL_ID, type LifeWorld } from "./rules.ts";
import { inboundExtra } from "./sayings.ts";

/** The addresses that a contact can have, the first one of its chat. */
export const ADDRESSES = ["100", "200", "-300"];

type Draft = Omit<InboundDraft, "id">;

/** The contacts of the chats with a network: what they do reaches the chats by the network's webhooks. */
export class Contacts extends Requests {
  readonly #service: Service;
  readonly #content: ContentJudge;
  /** What they wrote. The network may tell of it again. */
  readonly #written: Draft[] = [];
  /** The texts that each of them ever had, by the network's id of it. */
  readonly #contents = new Map<string, string[]>();

  constructor(world: LifeWorld, service: Service, isolates: readonly Isolate[], content: ContentJudge) {
    super(world, isolates);
    this.#service = service;
    this.#content = content;
  }

  /** The network's ids of what they wrote. */
  get ids(): string[] {
    return this.#written.map(({ dedupe }) => dedupe);
  }

  /** The contact writes. @param networkIds of messages that it may quote */
  write(chat: SimulatedObject, networkIds: readonly string[]): void {
    const extra = inboundExtra(this.#world, (kind) => this.name(`their${kind}`), networkIds);
    const isStandby = this.#world.random() < 0.2;
    this.#receive(chat, { content: this.name("inbound"), extra: isStandby ? { ...extra, standby: true } : extra });
  }

  /** The contact taps a choice, or the network says so; now and then twice. @param ids of messages, of this chat or not */
  tap(chat: SimulatedObject, ids: readonly string[]): void {
    const world = this.#world;
    const index = world.pick([0, 0, 1, 2, 9]);
    const forged = ["", "yes", "msg_:0", `${world.pick(ids)}`, `${world.pick(ids)}:10`, `${world.pick(ids)}:-1`];
    const data = world.random() < 0.1 ? world.pick(forged) : `${world.pick(ids)}:${index}`;
    for (let n = world.pick([1, 1, 2]); n > 0; n--) {
      const title = world.pick(["", this.name("tapped")]);
      this.#receive(chat, { content: title || "Tapped", extra: { tap: { data, title } } });
    }
  }

  /** The contact edits a message, which may be another one, back to an earlier text. @param networkId of the message */
  edit(chat: SimulatedObject, networkId: string): void {
    const earlier = this.#contents.get(networkId) ?? [];
    const content = this.#world.random() < 0.3 && earlier.length > 0 ? this.#world.pick(earlier) : this.name("edited");
    this.#contents.set(networkId, [...earlier, content]);
    this.#tell(chat, { change: "edit", networkId, content, at: this.#second() });
  }

  /** The contact deletes a message. */
  delete(chat: SimulatedObject, networkId: string): void {
    this.#tell(chat, { change: "deletion", networkId });
  }

  /** The contact reacts to a message, or takes the reaction back. */
  react(chat: SimulatedObject, networkId: string): void {
    const emoji = this.#world.pick(["👍", "🎉", null]);
    this.#tell(chat, { change: "reaction", networkId, emoji, at: this.#second() });
  }

  /** The network did not show a reaction of the company after all. */
  failReaction(chat: SimulatedObject, { messageId, at }: { messageId: string; at: number }): void {
    this.#tell(chat, { change: "reaction_failed", channelId: CHANNEL_ID, messageId, at });
  }

  /** The contact's address changes. */
  changeAddress(chat: SimulatedObject, address: string): void {
    const change = {
      kind: "address" as const,
      from: ADDRESSES.filter((each) => each !== address),
      to: [address],
      at: this.#second(),
    };
    this.request("address", ({ env }) =>
      this.#service.callChat(env, CALLER, chat.name, (stub, as) => stub.changeAddresses(as, change)),
    );
  }

  /** The network tells of a change now or later, now and then twice. */
  #tell(chat: SimulatedObject, change: MessageChange): void {
    const world = this.#world;
    for (let n = world.pick([1, 1, 1, 2]); n > 0; n--) {
      world.after(world.between(0, world.pick([0, 2_000, 5_000, 60_000, 600_000])), () =>
        this.request("change", async ({ env }) => {
          const answer = await this.#service.callChat(env, CALLER, chat.name, (stub, as) => stub.change(as, change));
          const isLeft = answer.outcome === "not_reported" || answer.outcome === "held";
          if (isLeft) throw Object.assign(new Error("Not reported"), { code: "unavailable" });
        }),
      );
    }
  }

  /** The time as networks tell it. */
  #second(): number {
    return Math.floor(this.#world.now / 1_000) * 1_000;
  }

  #receive(chat: SimulatedObject, { content, extra }: Pick<Draft, "content" | "extra">): void {
    const world = this.#world;
    const isAgain = this.#written.length > 0 && world.random() < 0.3;
    const none = { type: "TEXT" as const, media: null, origin: null, addresses: [] };
    const draft = isAgain
      ? world.pick(this.#written)
      : { dedupe: `from the contact ${this.#written.length}`, content, extra, ...none };
    if (!isAgain) {
      this.#written.push(draft);
      this.#contents.set(draft.dedupe, [content]);
    }
    this.#content.written(draft);
    const id = this.#service.newId("msg", null);
    this.request("write", ({ env }) =>
      this.#service.callChat(env, CALLER, chat.name, (stub, as) => stub.receive(as, { ...draft, id })),
    );
  }

  get #world(): LifeWorld {
    return this.world as LifeWorld;
  }
}
