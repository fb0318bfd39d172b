import { Adoption } from "../../../src/chats/identity.ts";
import { MessageLog } from "../../../src/chats/log/message-log.ts";
import { outboundMessage } from "../../../src/chats/log/new-message.ts";
import { newId } from "../../../src/ids.ts";
import worker, * as service from "../../../src/index.ts";
import type { Filling } from "../filling.ts";
import { countedWorker, counting } from "./counted-service.ts";

const CONTENT = "Your order has left our warehouse and will be with you in two to three days.";

export class KeyObject extends counting(service.KeyObject) {}
export class ChannelObject extends counting(service.ChannelObject) {
  override reportActivity(...given: Parameters<service.ChannelObject["reportActivity"]>) {
    return this.uncounted(async () => super.reportActivity(...given));
  }
}

export class ChatObject extends counting(service.ChatObject) {
  /** Fills a chat that has had no request yet, through its own log. */
  fill({ identity, senderId, from, count }: Filling): void {
    const { storage } = this.ctx;
    const log = new MessageLog(storage);
    new Adoption(storage, () => log.prepare()).identify(identity.organizationId, identity);
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
          { ...draft, idempotencyHash: null, fingerprint: null, prepared },
          prepared,
          place,
          false,
        );
        log.append({ message, dedupe: null, fingerprint: null, template: null, delivery: null, media: null });
      }
    });
  }
}

/** The service with counters, and with a route that fills chats. */
export default countedWorker<Env>({
  async fetch(request, env, context) {
    if (new URL(request.url).pathname !== "/bench/fill") return worker.fetch(request, env, context);
    const filling = await request.json<Filling>();
    const chats = env.CHATS as unknown as DurableObjectNamespace<ChatObject>;
    await chats.getByName(filling.identity.chatId).fill(filling);
    return new Response();
  },
});
