import { eventId } from "../events/event.ts";
import { renderEvent } from "../events/render.ts";
import type { LineHost } from "../webhooks/line-host.ts";
import { linePorts } from "../webhooks/line-ports.ts";
import { type LinesObject, ObjectLines } from "../webhooks/object-lines.ts";
import type { Feed } from "./feed.ts";
import { OwnEvents } from "./own-events.ts";

/** An organization's object, as its lines use it. */
interface OwnLinesHost extends LinesObject {
  env: Env;
  kv: SyncKvStorage;
  sql: SqlStorage;
  feed: Feed;
  /** The organization's id; undefined while the object is empty. */
  organizationId(): string | undefined;
}

/** The lines that deliver the organization's own events to webhooks. */
export class OwnLines extends ObjectLines {
  readonly #host: OwnLinesHost;
  #erasures = 0;

  constructor(host: OwnLinesHost) {
    super(host);
    this.#host = host;
  }

  /** An event was stored in a transaction, which may still fail. */
  onEvent(): void {
    queueMicrotask(() => this.start());
  }

  override forget(): void {
    this.#erasures++;
    super.forget();
  }

  protected override lineHost(): LineHost | null {
    const { env, kv, sql, feed, alarm } = this.#host;
    const organizationId = this.#host.organizationId();
    if (organizationId === undefined) return null;
    const erasures = this.#erasures;
    const exists = () => this.#erasures === erasures;
    const events = new OwnEvents(sql);
    return {
      ...linePorts(env),
      kv,
      lineId: organizationId,
      exists,
      newest: () => feed.newestOwn,
      matching: (range, filter, limit) => events.matching(range, filter, limit),
      count: (range, filter) => events.count(range, filter),
      eventId: (number) => eventId(organizationId, feed.life, number),
      // No message is in these events.
      redactions: () => 0,
      // These events have no number, so none is before them.
      async render(fact, payload) {
        const { data, ...event } = renderEvent(fact, { organizationId, chat: null }, feed.life, {}, payload);
        return JSON.stringify({ ...event, previous: null, data });
      },
      standBy: (at) => alarm.by(at),
    };
  }
}
