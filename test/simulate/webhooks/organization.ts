import type { ChatReport, FeedPointer, ReportAnswer } from "../../../src/model/organization.ts";
import type { WebhookFilter, WebhookList } from "../../../src/model/webhook.ts";
import type { Directory } from "../objects/calls.ts";

interface KnownChat {
  life: number;
  number: number;
  events: number;
  /** The last event when the chat was first told of the list; null if it has the list. */
  toldAfter: number | null;
}

const NO_WEBHOOKS: WebhookList = { version: "", webhooks: [] };

/** As much of an organization's object as webhooks need: the list of webhooks, and pointers to events. */
export class WebhookOrganization {
  readonly #kv: SyncKvStorage;
  readonly #directory: Directory;
  readonly #now: () => number;

  constructor({ storage }: DurableObjectState, directory: Directory, now: () => number) {
    this.#kv = storage.kv;
    this.#directory = directory;
    this.#now = now;
  }

  /** As `ChatReports.store`. */
  report({ chatId, life, number, events, webhooks }: ChatReport): ReportAnswer {
    const known = this.#kv.get<KnownChat>(`chat ${chatId}`);
    if (known && known.life > life) return { outcome: "unknown" };
    const before = known?.life === life ? known : { life, number: 0, events: 0, toldAfter: null };
    const list = this.#kv.get<WebhookList>("webhooks") ?? NO_WEBHOOKS;
    const isTold = list.version !== (webhooks ?? "");
    const toldAfter = isTold ? (before.toldAfter ?? before.events) : null;
    if (number > before.number) {
      const first = Math.max(events?.first ?? 0, before.events + 1);
      if (events && first <= events.last) this.#point({ ...events, chatId, first });
      this.#kv.put(`chat ${chatId}`, { life, number, events: Math.max(before.events, events?.last ?? 0), toldAfter });
    }
    const answer = { number: Math.max(number, before.number), nextAfterMs: 0, listeningForMs: 0 };
    return {
      outcome: "ok",
      ...answer,
      ...(toldAfter !== null && { webhooks: { ...list, startAfter: toldAfter } }),
    };
  }

  pointersBetween(since: number, until: number, after: number, limit: number): FeedPointer[] {
    return this.#pointers()
      .filter(({ position, at }) => position > after && at >= since && at <= until)
      .slice(0, limit);
  }

  webhookEvent(): void {}

  reportWebhook(): void {}

  /** Reads the list of webhooks again. */
  refreshWebhooks(): void {
    const { rows } = this.#directory.database.query(
      "select id, version, types from webhooks where erasing_at is null order by id",
      [],
    );
    const webhooks = rows.map(({ id, version, types }): WebhookFilter => {
      const names = types === null ? null : (JSON.parse(types as string) as string[]);
      return { id: id as string, version: version as number, types: names, channels: null };
    });
    const version = webhooks.map((webhook) => `${webhook.id}:${webhook.version}`).join();
    this.#kv.put("webhooks", { version, webhooks });
  }

  #pointers(): FeedPointer[] {
    return this.#kv.get<FeedPointer[]>("pointers") ?? [];
  }

  #point(pointer: Pick<FeedPointer, "chatId" | "first" | "last" | "types">): void {
    const pointers = this.#pointers();
    const position = pointers.length + 1;
    this.#kv.put("pointers", [...pointers, { ...pointer, position, channelId: null, at: this.#now() }]);
  }
}
