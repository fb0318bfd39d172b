import type { ListPosition } from "../../../src/model/list-page.ts";
import type { ShownMessage } from "../../../src/model/message.ts";
import type { Book, Row } from "./book.ts";
import type { LifeWorld } from "./rules.ts";

type Answer = { outcome: string; body?: string | Uint8Array; version?: string };

/** Compares pages of messages with what the chat stores: newest first, by number or beside a cursor. */
export class PageJudge {
  readonly #world: LifeWorld;
  /** The pages that clients have, by their version and position. */
  readonly #known = new Map<string, string>();

  constructor(world: LifeWorld) {
    this.#world = world;
  }

  /** @param given what the chat was asked for */
  answered(book: Book, given: unknown[], { outcome, body, version }: Answer): void {
    const position = given[1] as ListPosition;
    const name = JSON.stringify(position);
    const right = pageOf(book, position);
    this.#world.count(`page: ${outcome}`);
    if (right === undefined) return;
    if (right === null || outcome === "unknown_cursor") {
      this.#world.check("read", (right === null) === (outcome === "unknown_cursor"), () => `${name}: ${outcome}`);
      return;
    }
    const text = body instanceof Uint8Array ? new TextDecoder().decode(body) : "";
    const shown = outcome === "unchanged" ? this.#known.get(`${String(given[2])} ${name}`) : text;
    this.#world.check("read", shown === right, () => `the page ${name} (${outcome}) is ${shown}, and not ${right}`);
    if (version !== undefined) this.#known.set(`${version} ${name}`, text);
  }
}

/** The page as JSON; null if the cursor is of no message, undefined if it is of one that was deleted. */
function pageOf(book: Book, position: ListPosition): string | null | undefined {
  const rows = book.in("messages").sort((one, other) => seqOf(one) - seqOf(other));
  const { limit } = position;
  const total = rows.length;
  if ("page" in position) {
    const { page } = position;
    const totalPages = Math.ceil(total / limit);
    const end = Math.max(0, total - (page - 1) * limit);
    const some = rows.slice(Math.max(0, end - limit), end);
    return print(some, { page, limit, total, totalPages, hasMore: page < totalPages });
  }
  const cursor = "before" in position ? position.before : position.after;
  if (book.purged.has(cursor)) return undefined;
  const at = rows.findIndex(({ message }) => message.id === cursor);
  if (at < 0) return null;
  const all = "before" in position ? rows.slice(0, at) : rows.slice(at + 1);
  const some = "before" in position ? all.slice(-limit) : all.slice(0, limit);
  return print(some, { limit, total, hasMore: some.length < all.length });
}

function seqOf({ message }: Row): number {
  return (message as ShownMessage).seq ?? 0;
}

function print(rows: Row[], pagination: object): string {
  const docs = rows.toReversed().map(({ columns }) => columns.doc);
  return `{"messages":[${docs.join()}],"pagination":${JSON.stringify(pagination)}}`;
}
