import {
  type ChannelNews,
  type ChannelWarning,
  MAX_UNKNOWN_NAMES,
  type WarningCode,
} from "../../model/channel-warning.ts";
import type { DuePart } from "../../platform/object/due-work.ts";

/** A warning that nobody takes back ends this long after it was last reported. */
const KEPT_MS = 7 * 86_400_000;
const MAX_TEXT = 500;
const NOT_KNOWN = "The network sent what this version does not know:";
const LOWERED = "The number of contacts who can get a template in 24 hours fell to";

/** `at`: when it was last reported, Unix milliseconds. */
type Stored = ChannelWarning & { at: number };

interface State {
  channelId: string;
  warnings: Stored[];
  unknown: Record<string, number>;
  /** The last limit that the network reported; null for none, absent if it never did. */
  dailyLimit?: number | null;
}

type Change = "codes" | "counts" | null;

/** The warnings of one channel. */
export class Warnings implements DuePart {
  readonly #kv: Pick<SyncKvStorage, "get" | "put">;
  readonly #ended: (channelId: string) => Promise<void>;

  /** @param ended a warning has ended because nobody reported it again */
  constructor(kv: Pick<SyncKvStorage, "get" | "put">, ended: (channelId: string) => Promise<void>) {
    this.#kv = kv;
    this.#ended = ended;
  }

  /** What clients see. */
  shown(): { warnings: ChannelWarning[]; unknown: Record<string, number> } {
    const { warnings, unknown } = this.#state("");
    return { warnings: warnings.map(({ code, since, count, text }) => ({ code, since, count, text })), unknown };
  }

  /** Stores news. @returns whether a code came or went, or only counts and texts changed; null if nothing did */
  take(channelId: string, news: ChannelNews, now: number): Change {
    const before = this.#state(channelId);
    const { warnings } = before;
    const dailyLimit = news.dailyLimit === undefined ? before.dailyLimit : news.dailyLimit;
    const rise = riseOf(before.dailyLimit, dailyLimit);
    const unknown = withCounts(before.unknown, news.unknown ?? {});
    const sum = Object.values(news.unknown ?? {}).reduce((all, count) => all + count, 0);
    const came: NonNullable<ChannelNews["warnings"]> = [
      ...(news.warnings ?? []),
      ...(sum > 0
        ? [{ code: "unknown_fields", text: `${NOT_KNOWN} ${Object.keys(unknown).join(", ")}`, count: sum } as const]
        : []),
      ...(rise < 0 ? [{ code: "limit", text: `${LOWERED} ${dailyLimit}` } as const] : []),
    ];
    const ended = new Set<WarningCode>([...(news.ended ?? []), ...(rise > 0 ? (["limit"] as const) : [])]);
    const kept = new Map(warnings.filter(({ code }) => !ended.has(code)).map((each) => [each.code, each]));
    for (const { code, text, count = 1 } of came) {
      const known = kept.get(code);
      const cut = text.slice(0, MAX_TEXT).toWellFormed();
      kept.set(code, { code, since: known?.since ?? now, count: (known?.count ?? 0) + count, text: cut, at: now });
    }
    return this.#keep(before, {
      channelId,
      warnings: [...kept.values()],
      unknown,
      ...(dailyLimit !== undefined && { dailyLimit }),
    });
  }

  dueAt(): number | null {
    const ends = this.#state("").warnings.map(({ at }) => at + KEPT_MS);
    return ends.length > 0 ? Math.min(...ends) : null;
  }

  /** Ends the warnings that nobody reported for a week. */
  async run(now: number): Promise<void> {
    const before = this.#state("");
    const warnings = before.warnings.filter(({ at }) => at + KEPT_MS > now);
    const isUnknown = warnings.some(({ code }) => code === "unknown_fields");
    const change = this.#keep(before, { ...before, warnings, unknown: isUnknown ? before.unknown : {} });
    if (change) await this.#ended(before.channelId);
  }

  #keep(before: State, after: State): Change {
    if (JSON.stringify(before) === JSON.stringify(after)) return null;
    this.#kv.put("warnings", after);
    const codes = ({ warnings }: State) => warnings.map(({ code }) => code).join();
    return codes(before) === codes(after) ? "counts" : "codes";
  }

  #state(channelId: string): State {
    return this.#kv.get<State>("warnings") ?? { channelId, warnings: [], unknown: {} };
  }
}

/** The counts with those of `met`. Beyond the limit of names, only known ones are counted. */
function withCounts(known: Record<string, number>, met: Record<string, number>): Record<string, number> {
  const all = new Map(Object.entries(known));
  for (const [name, count] of Object.entries(met)) {
    if (all.has(name) || all.size < MAX_UNKNOWN_NAMES) all.set(name, (all.get(name) ?? 0) + count);
  }
  return Object.fromEntries(all);
}

/** Whether a limit rose (above 0) or fell (below 0). Null: no limit; undefined: not known. */
function riseOf(before: number | null | undefined, now: number | null | undefined): number {
  if (before === undefined || now === undefined) return 0;
  const [from, to] = [before, now].map((limit) => limit ?? Number.MAX_SAFE_INTEGER);
  return Number(to) - Number(from);
}
