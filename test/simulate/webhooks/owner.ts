import type { Directory } from "../objects/calls.ts";
import type { SimulatedObject } from "../objects/object.ts";
import { Party } from "../objects/party.ts";
import type { WebhookJudge } from "./judge.ts";
import type { WebhookWorld } from "./rules.ts";

export const ORGANIZATION_ID = "org_g000000000000000";
/** Filters that webhooks have. */
const FILTERS = [null, ["message.received"], ["message.received", "message.redacted"], ["message.status"]];
const AGAIN_AFTER_MS = 2_000;

/** Who owns the webhooks: creates, changes, disables, enables and deletes them, and replays events. */
export class Owner {
  readonly #world: WebhookWorld;
  readonly #directory: Directory;
  readonly #judge: WebhookJudge;
  readonly #organization: SimulatedObject;
  readonly #webhook: (id: string) => SimulatedObject;
  /** Where its code runs. */
  readonly #party: Party;
  /** The last change of each webhook: changes follow each other. */
  readonly #changes = new Map<string, Promise<void>>();

  constructor(
    world: WebhookWorld,
    directory: Directory,
    judge: WebhookJudge,
    objects: { organization: SimulatedObject; webhook: (id: string) => SimulatedObject },
  ) {
    this.#world = world;
    this.#party = new Party(world, "owner");
    this.#directory = directory;
    this.#judge = judge;
    this.#organization = objects.organization;
    this.#webhook = objects.webhook;
  }

  create(): void {
    const world = this.#world;
    const { webhooks } = this.#judge.book;
    const id = `whk_g${String(webhooks.size + 1).padStart(15, "0")}`;
    const [perSecond, concurrency] = [world.pick([1, 5, 20]), world.pick([1, 2, 5])];
    const types = world.pick([null, null, ...FILTERS]);
    const columns =
      "id, organization_id, url, secret, types, payload, per_second, concurrency, version, created_by, created_at";
    this.#directory.database.query(`insert into webhooks (${columns}) values (?, ?, ?, ?, ?, ?, ?, ?, 1, 'key', ?)`, [
      ...[id, ORGANIZATION_ID, `https://hooks.example/${id}`, "secret", types && JSON.stringify(types), "full"],
      ...[perSecond, concurrency, world.now],
    ]);
    const webhook = {
      id,
      perSecond,
      concurrency,
      filters: [types],
      createdAt: null,
      isBeingDeleted: false,
      isDeleted: false,
    };
    webhooks.set(id, webhook);
    world.count("webhook created");
    this.#change(id, async () => {
      await this.#call(this.#organization, "refreshWebhooks", []);
      Object.assign(webhook, { createdAt: world.now });
    });
  }

  changeFilter(id: string): void {
    const webhook = this.#judge.book.webhooks.get(id);
    if (!webhook) return;
    this.#change(id, async () => {
      const types = this.#world.pick(FILTERS);
      webhook.filters = [...webhook.filters, types];
      const set = "update webhooks set types = ?, version = version + 1 where id = ?";
      this.#directory.database.query(set, [types && JSON.stringify(types), id]);
      this.#world.count("filter changed");
      await this.#call(this.#organization, "refreshWebhooks", []);
      await this.#call(this.#webhook(id), "refresh", [id, { isNewUrl: false }]);
    });
  }

  changeUrl(id: string): void {
    this.#change(id, () => this.#call(this.#webhook(id), "refresh", [id, { isNewUrl: true }]));
  }

  disable(id: string): void {
    this.#change(id, () => this.#call(this.#webhook(id), "disable", [id, "customer"]));
  }

  enable(id: string, from: "pending" | "now" = "pending"): void {
    this.#world.count(`enabled: ${from}`);
    this.#change(id, () => this.#call(this.#webhook(id), "enable", [id, from]));
  }

  /** Tries all events that wait now. */
  retry(id: string): void {
    this.#world.count("retry");
    this.#change(id, () => this.#call(this.#webhook(id), "retry", [id]));
  }

  replay(id: string, request: object): void {
    this.#world.count("replay");
    this.#change(id, () => this.#call(this.#webhook(id), "replay", [id, request]));
  }

  delete(id: string): void {
    const webhook = this.#judge.book.webhooks.get(id);
    this.#change(id, async () => {
      this.#world.note(() => `${id} is being deleted`);
      if (webhook) webhook.isBeingDeleted = true;
      this.#directory.database.query("update webhooks set erasing_at = ? where id = ?", [this.#world.now, id]);
      await this.#call(this.#organization, "refreshWebhooks", []);
      if (webhook) webhook.isDeleted = true;
      await this.#call(this.#webhook(id), "erase", []);
      this.#judge.permits.deleted(id);
      this.#world.count("webhook deleted");
    });
  }

  #change(id: string, change: () => Promise<void>): void {
    this.#world.after(0, () => {
      this.#party.enter(() => {
        const done = (this.#changes.get(id) ?? Promise.resolve()).then(change);
        done.catch((error: unknown) => this.#world.fail(error));
        this.#changes.set(id, done);
      });
    });
  }

  /** Calls an object until it answers. Each call may be lost, late or repeated. */
  #call(object: SimulatedObject, method: string, given: unknown[]): Promise<void> {
    const world = this.#world;
    return new Promise((resolve) => {
      const tryOnce = () => {
        let isOver = false;
        const again = () => {
          if (isOver) return;
          isOver = true;
          world.after(AGAIN_AFTER_MS, tryOnce);
        };
        const ms = world.fault("call late", 0.1) ? world.between(20, 30_000) : world.between(1, 20);
        if (world.fault("call twice", 0.1))
          world.after(ms + world.between(1, 5_000), () => object.receive(method, given, () => {}));
        if (world.fault("call lost", 0.03)) return again();
        world.after(ms, () =>
          object.receive(method, given, (result) => {
            if ("error" in result || world.fault("answer lost", 0.03)) return again();
            isOver = true;
            world.after(world.between(1, 20), () => this.#party.enter(resolve));
          }),
        );
      };
      tryOnce();
    });
  }
}
