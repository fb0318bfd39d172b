import type { ReportedWebhookState, WebhookCounts } from "../../model/webhook.ts";
import type { Settings } from "./settings.ts";

type States = Record<string, ReportedWebhookState>;

const STATES = "webhookStates";

/** The states of an organization's webhooks. A webhook's object reports that it fails, is disabled, or works again. */
export class WebhookStates {
  readonly #kv: SyncKvStorage;
  readonly #settings: Pick<Settings, "webhooks">;

  constructor(kv: SyncKvStorage, settings: Pick<Settings, "webhooks">) {
    this.#kv = kv;
    this.#settings = settings;
  }

  /** Stores a state, unless a later one is stored. The states of deleted webhooks go with the next report. */
  report(webhookId: string, reported: ReportedWebhookState): void {
    const states = this.#states;
    if ((states[webhookId]?.at ?? 0) > reported.at) return;
    const known = new Set([webhookId, ...this.#settings.webhooks.webhooks.map(({ id }) => id)]);
    const kept = Object.entries({ ...states, [webhookId]: reported }).filter(([id]) => known.has(id));
    this.#kv.put(STATES, Object.fromEntries(kept));
  }

  counts(): WebhookCounts {
    const states = this.#states;
    const counts: WebhookCounts = { all: 0, failing: 0, disabled: {} };
    for (const { id } of this.#settings.webhooks.webhooks) {
      const { state, reason } = states[id] ?? {};
      counts.all++;
      if (state === "failing") counts.failing++;
      if (state === "disabled" && reason) counts.disabled[reason] = (counts.disabled[reason] ?? 0) + 1;
    }
    return counts;
  }

  get #states(): States {
    return this.#kv.get<States>(STATES) ?? {};
  }
}
