import {
  type ChatLabel,
  foldedLabel,
  type Label,
  type LabelAnswer,
  type LabelChange,
  MAX_LABELS,
} from "../../model/label.ts";
import type { DuePart } from "../../platform/object/due-work.ts";

/** The maximum number of chats that lose a deleted label in one step. A step takes a few milliseconds. */
const CHATS_A_STEP = 500;
/** How long a deleted label's row stays, so that a repeated deletion finds it. */
const KEPT_MS = 30_000;

/** What a chat's row has of its labels. */
interface LabeledChat {
  id: string;
  /** Ids as JSON; null if there are none. */
  labels: string | null;
}

/** What is in memory of the labels. */
interface Known {
  /** The names of those that are not deleted, by their ids, in the order of creation. */
  names: Map<string, string>;
  /** When the first of the deleted ones was deleted, Unix milliseconds; null if no row of one is left. */
  deletedAt: number | null;
}

/**
 * The labels of an organization. Their names are in this table alone, and chats have only ids: this object makes each
 * chat that a client sees, in a list, an answer, an event or an export. So a name is changed by one row, and a deleted
 * label is in no chat as soon as its row says so, without a call of the chats. A row of D1 would be another write, which
 * can fail between the two, and a read for each chat that is shown.
 */
export class LabelTable implements DuePart {
  readonly #storage: DurableObjectStorage;
  readonly #isReady: () => boolean;
  readonly #onChange: () => void;
  #known: Known | undefined;

  /**
   * @param isReady false after the organization was deleted
   * @param onChange called when chats look different
   */
  constructor(storage: DurableObjectStorage, isReady: () => boolean, onChange: () => void) {
    this.#storage = storage;
    this.#isReady = isReady;
    this.#onChange = onChange;
  }

  forget(): void {
    this.#known = undefined;
  }

  /** All labels, the oldest first. */
  list(): Label[] {
    const query = "select id, name, color, chats from labels where deleted_at is null order by created_at, id";
    return this.#sql.exec<Label & Record<string, SqlStorageValue>>(query).toArray();
  }

  /** A label, and how many chats have it. */
  find(id: string): Omit<Label, "color"> | undefined {
    const query = "select id, name, chats from labels where id = ? and deleted_at is null";
    return this.#sql.exec<Omit<Label, "color"> & Record<string, SqlStorageValue>>(query, id).toArray()[0];
  }

  among(ids: string[]): string[] {
    return ids.filter((id) => this.#names.has(id));
  }

  /** The labels of a chat as JSON. @param ids the column of its row */
  print(ids: string | null): string {
    if (ids === null) return "[]";
    const shown = (JSON.parse(ids) as string[]).flatMap((id): ChatLabel | [] => {
      const name = this.#names.get(id);
      return name === undefined ? [] : { id, name };
    });
    return JSON.stringify(shown);
  }

  /**
   * A chat has these labels now. Writes a row for each that it got or lost, in the caller's commit.
   * @param row the chat before
   * @param ids also of deleted labels, which are left out
   * @returns what its row must have as `labels`
   */
  store({ id: chatId, labels }: LabeledChat, ids: string[]): string | null {
    const before = labels === null ? [] : (JSON.parse(labels) as string[]);
    const after = this.among(ids);
    for (const id of after.filter((each) => !before.includes(each))) {
      this.#sql.exec("insert into chat_labels (label_id, chat_id) values (?, ?) on conflict do nothing", id, chatId);
      this.#sql.exec("update labels set chats = chats + 1 where id = ?", id);
    }
    for (const id of before.filter((each) => !after.includes(each))) {
      this.#sql.exec("delete from chat_labels where label_id = ? and chat_id = ?", id, chatId);
      this.#sql.exec("update labels set chats = chats - 1 where id = ?", id);
    }
    return after.length > 0 ? JSON.stringify(after) : null;
  }

  /** Adds a label. A repeated call with the same id finds it. */
  add({ id, name, color }: Omit<Label, "chats">, now: number): LabelAnswer {
    if (!this.#names.has(id)) {
      if (this.#has(name)) return { outcome: "label_exists" };
      if (this.#names.size >= MAX_LABELS) return { outcome: "label_limit" };
      const insert = "insert into labels (id, name, color, created_at) values (?, ?, ?, ?)";
      this.#sql.exec(insert, id, name, color, now);
      this.#known = undefined;
    }
    return this.#answer(id);
  }

  /** Changes a label, by one row. */
  change(id: string, { name, color }: LabelChange): LabelAnswer {
    if (!this.#names.has(id)) return { outcome: "label_not_found" };
    if (name !== undefined && this.#has(name, id)) return { outcome: "label_exists" };
    if (name !== undefined) this.#sql.exec("update labels set name = ? where id = ?", name, id);
    if (color !== undefined) this.#sql.exec("update labels set color = ? where id = ?", color, id);
    this.#changed();
    return this.#answer(id);
  }

  /** Deletes a label: from now on no chat shows it. @param isRepeat an earlier call may have deleted it */
  remove(id: string, isRepeat: boolean, now: number): LabelAnswer {
    if (!this.#names.has(id)) return isRepeat ? this.#answer(id) : { outcome: "label_not_found" };
    this.#sql.exec("update labels set deleted_at = ? where id = ?", now, id);
    this.#changed();
    return this.#answer(id);
  }

  /** When the alarm must call `run`, Unix milliseconds; null if no row of a deleted label is left. */
  dueAt(): number | null {
    const { deletedAt } = this.#labels;
    return deletedAt === null ? null : deletedAt + KEPT_MS;
  }

  /** Removes the rows of deleted labels in steps. Other calls come in between. */
  async run(now: number): Promise<void> {
    const query = "select id from labels where deleted_at <= ?";
    for (const { id } of this.#sql.exec<{ id: string }>(query, now - KEPT_MS).toArray()) {
      while (this.#isReady() && !this.#removeStep(id)) await scheduler.wait(0);
    }
  }

  /** @returns whether nothing of the label is left */
  #removeStep(id: string): boolean {
    const query = "select chat_id as last from chat_labels where label_id = ? order by chat_id limit 1 offset ?";
    const [step] = this.#sql.exec<{ last: string }>(query, id, CHATS_A_STEP - 1).toArray();
    if (step) {
      this.#sql.exec("delete from chat_labels where label_id = ? and chat_id <= ?", id, step.last);
      return false;
    }
    this.#storage.transactionSync(() => {
      this.#sql.exec("delete from chat_labels where label_id = ?", id);
      this.#sql.exec("delete from labels where id = ?", id);
    });
    this.#known = undefined;
    return true;
  }

  #answer(id: string): LabelAnswer {
    const query = "select id, name, color, chats from labels where id = ?";
    const [label] = this.#sql.exec<Label & Record<string, SqlStorageValue>>(query, id).toArray();
    return label ? { outcome: "ok", label } : { outcome: "label_not_found" };
  }

  /** Whether a label has this name, or one that looks alike. @param except the id of one that does not count */
  #has(name: string, except?: string): boolean {
    const wanted = foldedLabel(name);
    return [...this.#names].some(([id, other]) => id !== except && foldedLabel(other) === wanted);
  }

  #changed(): void {
    this.#known = undefined;
    this.#onChange();
  }

  get #names(): Map<string, string> {
    return this.#labels.names;
  }

  get #labels(): Known {
    if (!this.#known) {
      const query = "select id, name, deleted_at as deletedAt from labels order by created_at, id";
      const rows = this.#sql.exec<{ id: string; name: string; deletedAt: number | null }>(query).toArray();
      const names = rows.flatMap(({ id, name, deletedAt }) => (deletedAt === null ? [[id, name] as const] : []));
      const deleted = rows.flatMap(({ deletedAt }) => deletedAt ?? []);
      this.#known = { names: new Map(names), deletedAt: deleted.length > 0 ? Math.min(...deleted) : null };
    }
    return this.#known;
  }

  get #sql(): SqlStorage {
    return this.#storage.sql;
  }
}
