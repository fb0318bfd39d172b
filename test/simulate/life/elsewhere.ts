import type { EchoDraft } from "../../../src/model/chat-answers.ts";
import type { SimulatedObject } from "../objects/object.ts";
import { CALLER, type Isolate, Requests } from "../objects/requests.ts";
import type { ContentJudge } from "./content-judge.ts";
import type { Service } from "./load-service.ts";
import type { LifeWorld } from "./rules.ts";

type Draft = Omit<EchoDraft, "id">;

/** What the company writes elsewhere: the network tells the chats of it, and now and then of what they send themselves. */
export class Elsewhere extends Requests {
  readonly #service: Service;
  readonly #content: ContentJudge;
  readonly #written: Draft[] = [];

  constructor(world: LifeWorld, service: Service, isolates: readonly Isolate[], content: ContentJudge) {
    super(world, isolates);
    this.#service = service;
    this.#content = content;
  }

  /** Somebody writes on the phone, or the network's agent does; or the network tells of it again. */
  write(chat: SimulatedObject): void {
    const world = this.#world;
    const isAgain = this.#written.length > 0 && world.random() < 0.3;
    const dedupe = `from elsewhere ${this.#written.length}`;
    const draft = isAgain ? world.pick(this.#written) : this.#draft(dedupe, world.pick(["app", "network"] as const));
    if (!isAgain) this.#written.push(draft);
    this.#tell(chat, draft);
  }

  /** The network tells the chat of its own message. */
  repeatOwn(chat: SimulatedObject, networkId: string): void {
    const world = this.#world;
    const draft = this.#draft(networkId, "app");
    for (let n = world.pick([1, 1, 2]); n > 0; n--) {
      world.after(world.between(0, world.pick([50, 5_000, 120_000])), () => this.#tell(chat, draft));
    }
  }

  #draft(dedupe: string, writtenIn: EchoDraft["writtenIn"]): Draft {
    const world = this.#world;
    const at = world.now - world.between(0, world.pick([0, 5_000, 600_000]));
    const networkTime = new Date(Math.floor(at / 1_000) * 1_000).toISOString();
    const none = { type: "TEXT" as const, media: null, origin: null, addresses: [] };
    return { dedupe, content: this.name("elsewhere"), extra: { networkTime }, writtenIn, ...none };
  }

  #tell(chat: SimulatedObject, draft: Draft): void {
    this.#content.written(draft);
    const id = this.#service.newId("msg", null);
    this.request("echo", ({ env }) =>
      this.#service.callChat(env, CALLER, chat.name, (stub, as) => stub.echo(as, { ...draft, id })),
    );
  }

  get #world(): LifeWorld {
    return this.world as LifeWorld;
  }
}
