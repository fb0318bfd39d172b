import type { WebhookAttempt } from "../../../src/model/webhook.ts";
import type { SimulatedObject } from "../objects/object.ts";
import { KEPT_ATTEMPTS } from "./load-service.ts";
import type { WebhookWorld } from "./rules.ts";

interface LoggedRow {
  seq: number;
  line: string;
  number: number;
  replay_id: string | null;
  started_at: number;
  outcome: string;
}

interface Known {
  last: number;
  /** Each logged attempt, and how many instances were lost before. */
  names: Map<string, number>;
  /** How many attempts the present instance has logged. */
  byInstance: number;
  losses: number;
}

/** This many attempts of one instance replace the tables five times. */
const MANY = 5 * KEPT_ATTEMPTS;

/** Checks the logs of attempts that the objects of webhooks keep. */
export class LogJudge {
  readonly #world: WebhookWorld;
  readonly #known = new Map<string, Known>();

  constructor(world: WebhookWorld) {
    this.#world = world;
  }

  /** A webhook's object has committed. */
  committed({ name, storage, losses }: SimulatedObject): void {
    const known = this.#of(name);
    if (known.losses !== losses) Object.assign(known, { losses, byInstance: 0 });
    for (const row of this.#rowsAfter(storage, known.last)) {
      const { seq, line, number } = row;
      const after = known.last;
      this.#check(seq === after + 1, () => `${name} logs attempt ${seq} after attempt ${after}`);
      known.last = seq;
      const key = nameOf(line, number, row.replay_id, row.started_at, row.outcome);
      this.#check(known.names.get(key) !== losses, () => `${name} logs an attempt of event ${number} of ${line} twice`);
      known.names.set(key, losses);
      if (seq % KEPT_ATTEMPTS === 0) this.#world.count("a table of attempts is replaced");
      if (++known.byInstance === MANY) this.#world.count("an instance logs many attempts");
    }
  }

  /** A webhook's object has answered a report. */
  answered(
    { name }: SimulatedObject,
    { lineId: subscriptionId, number, replayId, startedAt, outcome }: WebhookAttempt,
  ): void {
    const isLogged = this.#of(name).names.has(nameOf(subscriptionId, number, replayId, startedAt, outcome));
    this.#check(
      isLogged,
      () => `${name} has not logged the attempt of event ${number} of ${subscriptionId}, which it was told`,
    );
  }

  #rowsAfter(storage: SimulatedObject["storage"], seq: number): LoggedRow[] {
    const rows = ["attempts_0", "attempts_1"].flatMap((table) =>
      storage.read<LoggedRow>(table, `select * from ${table} where seq > ? order by seq`, seq),
    );
    return rows.sort((one, other) => one.seq - other.seq);
  }

  #check(holds: boolean, text: () => string): void {
    this.#world.check("logged", holds, text);
  }

  #of(webhookId: string): Known {
    let known = this.#known.get(webhookId);
    if (!known) this.#known.set(webhookId, (known = { last: 0, names: new Map(), byInstance: 0, losses: 0 }));
    return known;
  }
}

function nameOf(
  subscriptionId: string,
  number: number,
  replayId: string | null,
  startedAt: number,
  outcome: string,
): string {
  return [subscriptionId, number, replayId, startedAt, outcome].join(" ");
}
