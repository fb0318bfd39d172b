import type { ChatIdentity, InboundDraft, InboundExtra } from "../../../src/model/chat-answers.ts";
import type { SendBody, ShownMessage } from "../../../src/model/message.ts";
import type { RenderedPart } from "../objects/globals.ts";
import { storedIdentity } from "../objects/identity.ts";
import type { SimulatedObject } from "../objects/object.ts";
import { type Book, INBOUND, networkIdsOf, type Row } from "./book.ts";
import type { LifeWorld } from "./rules.ts";
import { wordsIn } from "./sayings.ts";

type Kind = ChatIdentity["channelKind"];
type Written = Pick<InboundDraft, "dedupe" | "content" | "extra">;

/** What a message or a request for one says. */
type Said = {
  [Field in "type" | "mediaUrl" | "interactive" | "location" | "contacts" | "choice" | "sticker"]?: unknown;
} & {
  content: string;
  metadata: unknown;
  replyTo?: string | null | undefined;
};

const ENDED_BADLY = ["FAILED", "CANCELED"];
/** How each channel asks for a location while the contact's address is that of a person. */
const ASKS_FOR_LOCATION = { telegram: "keyboard", whatsapp: "buttons", web: "text" };

/** Compares what messages say with what their senders said, in what is stored and in what the networks get. */
export class ContentJudge {
  readonly #world: LifeWorld;
  /** The bodies of clients' sends, by their content. */
  readonly #said = new Map<string, SendBody>();
  /** What contacts wrote, by the network's id of it. */
  readonly #written = new Map<string, Written>();

  constructor(world: LifeWorld) {
    this.#world = world;
  }

  /** A client is about to send this. */
  said(body: SendBody): void {
    this.#said.set(body.content, body);
  }

  /** A network is about to tell a chat of this. */
  written(draft: Written): void {
    this.#written.set(draft.dedupe, draft);
  }

  /** A message is stored. */
  appeared(chat: SimulatedObject, book: Book, row: Row): void {
    const { message } = row;
    book.words.set(message.id, wordsIn(row.columns.doc));
    if (message.direction === "OUTBOUND" && message.origin === undefined) this.#outbound(kindOf(chat), book, message);
    else this.#inbound(book, row);
  }

  /** A message has another document than before. */
  changed(book: Book, old: Row, row: Row): void {
    const { id } = row.message;
    if (isBlank(row)) {
      this.checkBlank(book, row);
      return;
    }
    this.#checkParts(book, row);
    const { content } = row.message;
    const [one, other] = [saidBy({ ...old.message, content }), saidBy(row.message)];
    this.#world.check("said", one === other, () => `${id} said ${one} and says ${other}`);
  }

  /** A blank message has none of the words that it ever had. */
  checkBlank({ words }: Book, { table, columns, message: { id } }: Row): void {
    const left = new Set(wordsIn(JSON.stringify(columns)));
    const word = words.get(id)?.find((each) => left.has(each));
    this.#world.check("blank", word === undefined, () => `${id} still has "${word}" in ${table}`);
  }

  /** A part of a message goes to its network. */
  sent(chat: SimulatedObject, book: Book, { message, columns }: Row, { outgoing, contents }: RenderedPart): void {
    const world = this.#world;
    const { id, interactive } = message;
    const { body, quote } = outgoing;
    const wire = JSON.stringify(contents);
    const words = new Set(wordsIn(wire));
    const lost = wordsFor(kindOf(chat), message).find((word) => !words.has(word));
    world.check("rendered", lost === undefined, () => `"${lost}" of ${id} is missing in ${wire}`);
    const own = new Set(wordsIn(columns.doc));
    const foreign = [...words].find((word) => !own.has(word));
    world.check("rendered", foreign === undefined, () => `"${foreign}" is sent with ${id}`);
    this.checkSecret(wire);
    const counted = book.parts.get(id) ?? contents.length;
    book.parts.set(id, counted);
    world.check(
      "rendered",
      contents.length === counted,
      () => `${id} has ${contents.length} parts, and had ${counted}`,
    );
    const form = body.kind === "choices" ? body.interactive : undefined;
    const isFrozen = JSON.stringify(form) === JSON.stringify(interactive);
    world.check("said", isFrozen, () => `${id} is sent as ${form?.rendering}, and not as ${interactive?.rendering}`);
    const quoted = message.replyTo === undefined ? null : networkIdOf(book.rows.get(message.replyTo));
    world.check("quoted", quote === quoted, () => `${id} is sent with the quote ${quote}, and not ${quoted}`);
  }

  /** What leaves the company has none of its own ids of choices. */
  checkSecret(text: string): void {
    const id = wordsIn(text).find((word) => word.startsWith("ours-"));
    this.#world.check("secret", id === undefined, () => `"${id}" left in ${text}`);
  }

  /** A send was refused because of the message that it replies to. */
  checkNoQuote(book: Book, replyTo: string | undefined): void {
    const quoted = book.rows.get(replyTo ?? "");
    const isRight = replyTo !== undefined && !mayBeQuoted(quoted);
    this.#world.count("refused: replyTo");
    this.#world.check("refused", isRight, () => `a reply to ${replyTo} was refused`);
  }

  /** A message is sent when all its parts are. */
  #checkParts({ parts }: Book, { message: { id, status }, columns }: Row): void {
    const count = parts.get(id);
    if (status !== "SENT" || count === undefined) return;
    const sent = networkIdsOf({ columns }).length;
    this.#world.check("rendered", sent === count, () => `${id} is SENT with ${sent} of ${count} parts`);
  }

  #outbound(kind: Kind, book: Book, message: ShownMessage): void {
    const world = this.#world;
    const { id, content, interactive, resendOf, replyTo } = message;
    const body = this.#said.get(content);
    const rendering = interactive?.rendering;
    const form = body?.interactive && rendering && { ...body.interactive, rendering };
    const mediaUrl = `https://parley.test/api/v1/chats/${message.chatId}/messages/${id}/media`;
    const file = body?.mediaId === undefined ? {} : { type: "DOCUMENT", mediaUrl };
    const said = body && saidBy({ ...body, ...file, interactive: form || undefined });
    const stored = saidBy(message);
    world.check("said", said === stored, () => `${id} says ${stored}, and not ${said}`);
    const first = resendOf === undefined ? undefined : book.rows.get(resendOf)?.message.interactive;
    const isSame = first === undefined || first.rendering === rendering;
    world.check("said", isSame, () => `${id} has another form than ${resendOf}`);
    if (interactive) world.count(`choices: ${rendering}`);
    if (interactive?.choices[0]?.type === "location") {
      const right = ASKS_FOR_LOCATION[kind];
      world.check("said", rendering === right, () => `${id} asks for a location as ${rendering}`);
    }
    if (replyTo === undefined || resendOf !== undefined) return;
    world.count("a reply");
    // It may have failed in the same commit, after the reply was stored.
    const isGood = [book.before, book.rows].some((rows) => mayBeQuoted(rows.get(replyTo)));
    world.check("quoted", isGood, () => `${id} replies to ${replyTo}`);
  }

  #inbound(book: Book, row: Row): void {
    const { message, columns } = row;
    const draft = this.#written.get((columns.dedupe as string).slice(INBOUND.length));
    if (!draft) return;
    const { tap, location, contacts, sticker, ...quote } = draft.extra ?? {};
    const choice = tap && this.#tapped(book, message, tap);
    const replyTo = choice?.messageId ?? quotedId(book, message, quote);
    const content = choice && choice.id !== null ? choice.title : draft.content;
    const right = saidBy({ content, metadata: {}, location, contacts, sticker, choice, replyTo });
    const stored = saidBy(message);
    const isQuote = quote.quote !== undefined || quote.replyTo !== undefined;
    const isAboutOthers = tap !== undefined || isQuote;
    const invariant = tap ? "tapped" : isQuote ? "quoted" : "said";
    this.#world.check(invariant, stored === right, () => `${message.id} says ${stored}, and not ${right}`);
    if (isAboutOthers) this.#world.count(`${invariant}: ${(tap ? choice?.id : replyTo) ? "known" : "unknown"}`);
  }

  /** The choice that the message had when the tap came. */
  #tapped(book: Book, { seq }: ShownMessage, { data, title }: NonNullable<InboundExtra["tap"]>) {
    const [, id = "", index = ""] = /^(msg_[0-9A-Za-z]+):([0-9])$/.exec(data) ?? [];
    const row = book.rows.get(id);
    if (row?.table !== "messages" || (row.message.seq ?? 0) >= (seq ?? 0)) return { id: null, title, messageId: null };
    if (isBlank(row)) this.#world.count("tapped: blank");
    const choice = isBlank(row) ? undefined : row.message.interactive?.choices[Number(index)];
    if (choice?.type !== "reply") return { id: null, title, messageId: id };
    return { id: choice.id, title: choice.title, messageId: id };
  }
}

/** A message that was redacted, or that the contact deleted. */
export function isBlank({ message: { redactedAt, deletedAt } }: Row): boolean {
  return redactedAt !== undefined || deletedAt !== undefined;
}

/** What a message says, as JSON in one order. */
export function saidBy(message: Said): string {
  const { type = "TEXT", content, mediaUrl = null, metadata } = message;
  const { interactive, location, contacts, choice, sticker, replyTo = null } = message;
  const extra = [interactive, location, contacts, choice, sticker, replyTo];
  return JSON.stringify([type, content, mediaUrl, metadata, ...extra]);
}

/** The words that a network must show. It has its own label for some buttons, and only the location or the cards. */
function wordsFor(kind: Kind, { text, mediaUrl, interactive, location, contacts }: ShownMessage): string[] {
  if (location ?? contacts) return wordsIn(JSON.stringify(location ?? contacts));
  if (!interactive) return wordsIn(JSON.stringify([text, mediaUrl]));
  const { header, footer, menuTitle, rendering, choices } = interactive;
  const hasMenu = kind === "whatsapp" && rendering === "list";
  const hasOwnLabel = kind === "whatsapp" && choices[0]?.type === "location";
  const shown = hasOwnLabel ? [] : choices.map((choice) => ({ ...choice, id: undefined }));
  return wordsIn(JSON.stringify([text, mediaUrl, header, footer, hasMenu && menuTitle, shown]));
}

function mayBeQuoted(row: Row | undefined): boolean {
  return row?.table === "messages" && !ENDED_BADLY.includes(row.message.status);
}

/** The id of the message before this one that has an id, or a network's id; null if there is none. */
function quotedId(book: Book, { seq }: ShownMessage, { quote, replyTo }: Pick<InboundExtra, "quote" | "replyTo">) {
  if (quote === undefined && replyTo === undefined) return null;
  const before = book.in("messages").filter(({ message }) => (message.seq ?? 0) < (seq ?? 0));
  const isQuoted = ({ columns, message }: Row) => {
    if (replyTo !== undefined) return message.id === replyTo;
    return networkIdsOf({ columns }).includes(quote ?? "");
  };
  return before.findLast(isQuoted)?.message.id ?? null;
}

function networkIdOf(row: Row | undefined): string | null {
  return row?.table === "messages" ? (networkIdsOf(row)[0] ?? null) : null;
}

function kindOf(chat: SimulatedObject): Kind {
  return storedIdentity(chat)?.channelKind ?? "web";
}
