import type { InboundDraft } from "../../../src/chats/rpc.ts";
import type { SimulatedObject } from "../objects/object.ts";
import { CALLER, type Isolate, Requests } from "../objects/requests.ts";
import type { ContentJudge } from "./content-judge.ts";
import type { Service } from "./load-service.ts";
import type { LifeWorld } from "./rules.ts";
import { inboundExtra } from "./sayings.ts";

type Draft = Omit<InboundDraft, "id">;

/** The contacts of the chats with a network: what they do reaches the chats by the network's webhooks. */
export class Contacts extends Requests {
  readonly #service: Service;
  readonly #content: ContentJudge;
  /** What they wrote. The network may tell of it again. */
  readonly #written: Draft[] = [];

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
    this.#receive(chat, { content: this.name("inbound"), extra });
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

  /** The contact's address changes. */
  changeAddress(chat: SimulatedObject, address: string): void {
    this.request("address", ({ env }) =>
      this.#service.callChat(env, CALLER, chat.name, (stub, as) => stub.changeAddress(as, address)),
    );
  }

  #receive(chat: SimulatedObject, { content, extra }: Pick<Draft, "content" | "extra">): void {
    const world = this.#world;
    const isAgain = this.#written.length > 0 && world.random() < 0.3;
    const none = { type: "TEXT" as const, media: null, origin: null, addresses: [] };
    const draft = isAgain
      ? world.pick(this.#written)
      : { dedupe: `from the contact ${this.#written.length}`, content, extra, ...none };
    if (!isAgain) this.#written.push(draft);
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
