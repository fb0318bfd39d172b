import type { EchoDraft } from "../../model/chat-answers.ts";
import type { ChatTables, LateTable } from "./log/chat-tables.ts";

/** An echo that waits for its place. */
export interface HeldEcho {
  n: number;
  draft: EchoDraft;
  /** Unix milliseconds. */
  heldAt: number;
}

/** The echoes of a chat that wait for their places, in order. Most chats never have one, and looking costs nothing. */
export class HeldEchoes {
  readonly #held: LateTable;
  /** When the first one began to wait, Unix milliseconds; null if none waits; undefined if this instance does not know. */
  #since: number | null | undefined;

  constructor(tables: ChatTables) {
    this.#held = tables.held;
  }

  since(): number | null {
    if (this.#since === undefined) {
      const [first] = this.#held.run<{ since: number }>("select held_at as since from held order by n limit 1");
      this.#since = first?.since ?? null;
    }
    return this.#since;
  }

  has(networkId: string): boolean {
    if (this.since() === null) return false;
    return this.#held.run("select 1 from held where network_id = ?", networkId).length > 0;
  }

  all(): HeldEcho[] {
    if (this.since() === null) return [];
    const rows = this.#held.run<{ n: number; draft: string; heldAt: number }>(
      "select n, draft, held_at as heldAt from held order by n",
    );
    return rows.map(({ draft, ...row }) => ({ ...row, draft: JSON.parse(draft) as EchoDraft }));
  }

  add(draft: EchoDraft, heldAt: number): void {
    this.forget();
    const values = [draft.dedupe, JSON.stringify(draft), heldAt];
    this.#held.insert("insert into held (network_id, draft, held_at) values (?, ?, ?)", ...values);
  }

  remove(n: number): void {
    this.forget();
    this.#held.run("delete from held where n = ?", n);
  }

  /** A write may have failed, or the storage was deleted. */
  forget(): void {
    this.#since = undefined;
  }
}
