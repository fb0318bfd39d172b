import { Adoption } from "../../../src/chats/adoption.ts";
import { MessageLog } from "../../../src/chats/message-log.ts";
import { outboundMessage } from "../../../src/chats/new-message.ts";
import { newId } from "../../../src/ids.ts";
import worker, * as service from "../../../src/index.ts";
import type { Filling } from "../filling.ts";
import { countHops, countRows, take } from "./counting.ts";
import { withHops } from "./hops.ts";

const CONTENT = "Your order has left our warehouse and will be with you in two to three days.";

// biome-ignore lint/suspicious/noExplicitAny: TypeScript asks it of a class that extends any class
type ObjectClass = new (...given: any[]) => { alarm?(): void | Promise<void> };

/** An object's class whose hops and rows are counted, those of its alarm aside. */
function counting<C extends ObjectClass>(Original: C) {
  return class extends Original {
    #alarms = 0;

    // biome-ignore lint/suspicious/noExplicitAny: as above
    constructor(...[state, env]: any[]) {
      const own: { isCounted: () => boolean } = { isCounted: () => true };
      countRows(state, () => own.isCounted());
      super(
        state,
        withHops(
          env,
          countHops(() => own.isCounted()),
        ),
      );
      own.isCounted = () => this.#alarms === 0;
    }

    override async alarm(): Promise<void> {
      this.#alarms++;
      try {
        await super.alarm?.();
      } finally {
        this.#alarms--;
      }
    }
  };
}

export class KeyObject extends counting(service.KeyObject) {}
export class ChannelObject extends counting(service.ChannelObject) {}

export class ChatObject extends counting(service.ChatObject) {
  /** Fills a chat that nobody has called yet, through its own log. */
  fill({ identity, senderId, from, count }: Filling): void {
    const { storage } = this.ctx;
    const log = new MessageLog(storage);
    new Adoption(storage, () => log.prepare()).open(identity.organizationId, identity);
    storage.transactionSync(() => {
      for (let seq = from; seq < from + count; seq++) {
        const at = new Date(identity.createdAt + seq).toISOString();
        const draft = {
          id: newId("msg", null),
          type: "TEXT",
          content: `${CONTENT} (${seq})`,
          mediaUrl: null,
          templateId: null,
          variables: null,
          metadata: {},
        } as const;
        const prepared = { outcome: "prepared", senderId, text: draft.content, template: null } as const;
        const place = { chatId: identity.chatId, seq, at };
        const message = outboundMessage(
          { ...draft, idempotencyKey: null, fingerprint: null, prepared },
          prepared,
          place,
          false,
        );
        log.append({ message, dedupe: null, fingerprint: null, template: null, delivery: null, media: null });
      }
    });
  }
}

const wrapped = new WeakMap<Env, Env>();

/** The service with what it does counted, and with ways to fill chats. */
export default {
  async fetch(request, env, context) {
    const { pathname } = new URL(request.url);
    if (pathname === "/bench/tally") return Response.json(take());
    if (pathname === "/bench/fill") {
      const filling = await request.json<Filling>();
      const chats = env.CHATS as unknown as DurableObjectNamespace<ChatObject>;
      await chats.getByName(filling.identity.chatId).fill(filling);
      return new Response();
    }
    let own = wrapped.get(env);
    if (!own)
      wrapped.set(
        env,
        (own = withHops(
          env,
          countHops(() => true),
        )),
      );
    return worker.fetch(request, own, context);
  },
} satisfies ExportedHandler<Env>;
