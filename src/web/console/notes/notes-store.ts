import { signal } from "@preact/signals";
import type { FollowedEvent } from "../../../client/event.ts";
import type { Schemas } from "../api.ts";
import type { Api } from "../api-client.ts";
import { may } from "../session.ts";

export type Note = Schemas["Note"];

const PAGE = 100;

/** The notes of one chat, as far back as its messages are shown. */
export class NotesStore {
  /** Newest first. */
  readonly notes = signal<Note[]>([]);
  readonly #api: Api;
  readonly #path: { id: string };
  /** The `seq` from which on messages are shown. */
  readonly #shownFrom: () => number;
  #hasOlder = false;
  /** Counts the notes that came and went without a load: a page that is under way may not know of them. */
  #changes = 0;
  /** What is under way: of two loads, the later one counts. */
  #work: Promise<void> = Promise.resolve();

  constructor(api: Api, id: string, shownFrom: () => number) {
    this.#api = api;
    this.#path = { id };
    this.#shownFrom = shownFrom;
  }

  /** Loads the newest notes. @throws ParleyError */
  load(): Promise<void> {
    return this.#after(async () => {
      const { notes, hasMore } = await this.#page();
      const last = notes.at(-1);
      const isOther = (note: Note) => !notes.some(({ id }) => id === note.id);
      const older = last ? this.notes.value.filter((note) => isOther(note) && note.createdAt <= last.createdAt) : [];
      if (older.length === 0) this.#hasOlder = hasMore;
      this.notes.value = hasMore ? [...notes, ...older] : notes;
    });
  }

  /** Loads the notes beside all messages that are shown. @throws ParleyError */
  older(): Promise<void> {
    return this.#after(async () => {
      while (this.#hasOlder && (this.notes.value.at(-1)?.afterSeq ?? 0) >= this.#shownFrom()) await this.#loadOlder();
    });
  }

  /** Loads older notes until one is there. @returns it; undefined if it was deleted @throws ParleyError */
  async reach(noteId: string): Promise<Note | undefined> {
    const find = () => this.notes.value.find(({ id }) => id === noteId);
    await this.#after(async () => {
      while (this.#hasOlder && !find()) await this.#loadOlder();
    });
    return find();
  }

  /** Takes what happened in any chat. An event does not say what a note says. */
  take({ chatId, type, data }: FollowedEvent): void {
    const { note } = data;
    if (chatId !== this.#path.id || !note) return;
    if (type === "note.deleted") this.#remove(note.id);
    // What fails is loaded with the next event.
    else if (!this.notes.value.some(({ id }) => id === note.id)) this.load().catch(() => {});
  }

  /** Adds a note. The same key adds it once. @throws ParleyError */
  async add(content: string, mentions: string[], idempotencyKey: string): Promise<void> {
    const header = { "Idempotency-Key": idempotencyKey };
    const body = { content, mentions };
    const { note } = await this.#api.POST("/chats/{id}/notes", { path: this.#path, header, body });
    this.#changes++;
    if (!this.notes.value.some(({ id }) => id === note.id)) this.notes.value = [note, ...this.notes.value];
  }

  /** @throws ParleyError */
  async delete(noteId: string): Promise<void> {
    await this.#api.DELETE("/chats/{id}/notes/{noteId}", { path: { ...this.#path, noteId } });
    this.#remove(noteId);
  }

  #remove(noteId: string): void {
    this.#changes++;
    this.notes.value = this.notes.value.filter(({ id }) => id !== noteId);
  }

  async #loadOlder(): Promise<void> {
    const { notes, hasMore } = await this.#page(this.notes.value.at(-1));
    this.#hasOlder = hasMore;
    this.notes.value = [...this.notes.value, ...notes];
  }

  #after(work: () => Promise<void>): Promise<void> {
    this.#work = this.#work.catch(() => {}).then(work);
    return this.#work;
  }

  async #page(before?: Note): Promise<{ notes: Note[]; hasMore: boolean }> {
    if (!may("notes:read")) return { notes: [], hasMore: false };
    const query = { limit: PAGE, ...(before && { before: before.id }) };
    for (;;) {
      const changes = this.#changes;
      const { notes, pagination } = await this.#api.GET("/chats/{id}/notes", { path: this.#path, query });
      if (changes === this.#changes) return { notes, hasMore: pagination.hasMore };
    }
  }
}
