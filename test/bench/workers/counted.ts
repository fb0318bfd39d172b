import { outboundMessage } from "../../../src/chats/object/log/new-message.ts";
import worker, * as service from "../../../src/index.ts";
import { newId } from "../../../src/model/id.ts";
import type { Chats, Messages } from "../filling.ts";
import { countedWorker, counting } from "./counted-service.ts";

const CONTENT = "Your order has left our warehouse and will be with you in two to three days.";

export class KeyObject extends counting(service.KeyObject) {
  /** Makes its record of the key older than it may be used. */
  age(): void {
    const { kv } = this.ctx.storage;
    const held = kv.get<{ readAt: number }>("record");
    if (!held) throw new Error("the key was never used");
    kv.put("record", { ...held, readAt: held.readAt - 2 * 3_600_000 });
  }
}
export class ChannelObject extends counting(service.ChannelObject) {}
export class WebhookObject extends counting(service.WebhookObject) {}
export class SearchIndexObject extends counting(service.SearchIndexObject) {}

export class OrganizationObject extends counting(service.OrganizationObject) {
  /** What alarms of chats call belongs to no request. */
  override report(...given: Parameters<service.OrganizationObject["report"]>) {
    return this.aside(() => super.report(...given));
  }

  /** Writes chats. The report of the channel's health is there to make the channel known. */
  async fill(chats: Chats): Promise<void> {
    const { organizationId, channelId, stem, name, assigneeId, labelId, startsAt, from, count } = chats;
    const health = { number: 0, state: "ok", reason: null, since: startsAt, probeAt: null } as const;
    await this.reportHealth(organizationId, channelId, health);
    const { sql } = this.ctx.storage;
    const numbers = `with recursive numbers (n) as (select ? union all select n + 1 from numbers where n + 1 < ?)`;
    const range = [from, from + count];
    sql.exec(
      `insert into chats (id, channel_id, state, life, address, name, metadata, created_at, active_at,
         last_message_at, assignee, work_state, unanswered_since, labels)
       ${numbers} select ? || printf('%010d', n), ?, 'adopted', ? + n, ? || '-' || n, 'Contact ' || n, '{}', ? + n, ? + n,
         ? + n, iif(n % 25 = 0, ?, null), iif(? and n % 10 > 0, 'closed', 'open'),
         iif(? and n % 40 = 0, ? + n, null), iif(? and n % 20 = 0, ?, null) from numbers`,
      ...range,
      stem,
      channelId,
      startsAt,
      name,
      startsAt,
      startsAt,
      startsAt,
      assigneeId,
      ...[Number(labelId !== null), Number(labelId !== null), startsAt],
      ...[Number(labelId !== null), JSON.stringify([labelId])],
    );
    if (labelId !== null) this.#label(labelId, stem, numbers, range);
    sql.exec(
      `insert into addresses (channel_id, address, chat_id)
       ${numbers} select ?, ? || '-' || n, ? || printf('%010d', n) from numbers`,
      ...range,
      channelId,
      name,
      stem,
    );
    sql.exec("update channels set chats = chats + ? where id = ?", count, channelId);
  }

  #label(labelId: string, stem: string, numbers: string, range: number[]): void {
    const { sql } = this.ctx.storage;
    sql.exec(
      `insert into chat_labels (label_id, chat_id)
       ${numbers} select ?, ? || printf('%010d', n) from numbers where n % 20 = 0`,
      ...range,
      labelId,
      stem,
    );
    const labeled = "select count(*) from chat_labels where label_id = labels.id";
    sql.exec(`update labels set chats = (${labeled}) where id = ?`, labelId);
  }
}

export class ChatObject extends counting(service.ChatObject) {
  /** Writes messages into the log of a chat, as if they had been sent long ago. */
  async fill({ chatId, senderId, startsAt, from, count }: Messages): Promise<void> {
    const { log } = this.parts;
    if (!this.parts.adoption.identity()) throw new Error(`${chatId} is not adopted`);
    this.ctx.storage.transactionSync(() => {
      for (let seq = from; seq < from + count; seq++) {
        const sentAt = startsAt + seq;
        const draft = {
          id: newId("msg", null),
          calledAt: sentAt,
          type: "TEXT",
          content: `${CONTENT} (${seq})`,
          mediaUrl: null,
          templateId: null,
          variables: null,
          metadata: {},
        } as const;
        const prepared = { outcome: "prepared", senderId, text: draft.content, template: null } as const;
        const place = { chatId, seq, at: new Date(sentAt).toISOString() };
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

/** The service with counters, and with routes that write chats and messages and age keys. */
export default countedWorker<Env>({
  async fetch(request, env, context) {
    const { pathname } = new URL(request.url);
    if (pathname === "/bench/chats") {
      const chats = await request.json<Chats>();
      const organizations = env.ORGANIZATIONS as unknown as DurableObjectNamespace<OrganizationObject>;
      await organizations.getByName(chats.organizationId).fill(chats);
      return new Response();
    }
    if (pathname === "/bench/aged-keys") {
      const keys = env.KEYS as unknown as DurableObjectNamespace<KeyObject>;
      for (const id of await request.json<string[]>()) await keys.getByName(id).age();
      return new Response();
    }
    if (pathname === "/bench/messages") {
      const messages = await request.json<Messages>();
      const chats = env.CHATS as unknown as DurableObjectNamespace<ChatObject>;
      await chats.getByName(messages.chatId).fill(messages);
      return new Response();
    }
    return worker.fetch(request, env, context);
  },
});
