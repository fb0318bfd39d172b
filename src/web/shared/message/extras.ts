/** What a message says besides text and a file, and the parser of these fields. */

import { isPicture } from "../files/picture.ts";
import { fileKindOf, type ShownFile } from "../files/shown-file.ts";

/** A button, or a line if it is neither a reply nor a link. */
export interface ShownChoice {
  title: string;
  description: string;
  /** The title of the part that it stands in. */
  section: string;
  /** What a tap sends; null if the choice is not a reply. */
  id: string | null;
  /** Null if the choice is not a link. */
  url: string | null;
}

/**
 * A browser unpacks a picture into 4 bytes a pixel, however small its file is. A larger one is a link, and so is a file of
 * known size whose sides are unknown. Pictures that a network made itself come without a size, or with their sides.
 */
const MAX_PIXELS = 64e6;

/** Who reacted. */
export type Reactor = "contact" | "organization";

/** A line of text. `href` is null, or where it leads. */
export interface Detail {
  text: string;
  href: string | null;
}

/** The extras of a message; each is absent if it has none. */
export interface MessageExtras {
  /** The id of the message that it answers. */
  replyTo?: string | undefined;
  interactive?: { header: string; footer: string; choices: ShownChoice[] } | undefined;
  /** The choice that the visitor tapped. */
  choice?: { title: string; messageId: string } | undefined;
  /** A place, or contact cards. */
  details?: Detail[] | undefined;
  reactions?: { by: Reactor; emoji: string }[] | undefined;
  isEdited?: boolean | undefined;
  /** The person who wrote it for the company. */
  sender?: string | undefined;
  /** What `mediaUrl` shows, if the service has it. */
  file?: ShownFile | undefined;
}

/** Whether nothing is left of a message, because it was redacted. */
export function isRemoved({ text, mediaUrl }: { text: string; mediaUrl: string | null }): boolean {
  return text === "" && mediaUrl === null;
}

/** What one side reacted with, or null. */
export function reactionOf(side: Reactor, { reactions }: Pick<MessageExtras, "reactions">): string | null {
  return reactions?.find(({ by }) => by === side)?.emoji ?? null;
}

type Fields = Record<string, unknown>;

/** The extras of a message. A part of another shape is left out. */
export function readExtras({
  replyTo,
  interactive,
  choice,
  location,
  contacts,
  reactions,
  editedAt,
  media,
  sender,
}: Fields) {
  const extras: MessageExtras = {};
  const tapped = fieldsOf(choice);
  const details = [...placeLines(fieldsOf(location)), ...listOf(contacts).map(cardLine)].filter(
    ({ text }) => text !== "",
  );
  if (textOf(replyTo)) extras.replyTo = textOf(replyTo);
  if (interactive) {
    const { header, footer, choices } = fieldsOf(interactive);
    extras.interactive = {
      header: textOf(header),
      footer: textOf(footer),
      choices: bySection(listOf(choices).map(readChoice)),
    };
  }
  if (textOf(tapped.messageId)) extras.choice = { title: textOf(tapped.title), messageId: textOf(tapped.messageId) };
  if (details.length > 0) extras.details = details;
  const shown = listOf(reactions).map(({ by, emoji }) => ({
    by: by === "contact" ? ("contact" as const) : ("organization" as const),
    emoji: textOf(emoji),
  }));
  if (shown.length > 0) extras.reactions = shown;
  if (textOf(editedAt)) extras.isEdited = true;
  if (textOf(fieldsOf(sender).name)) extras.sender = textOf(fieldsOf(sender).name);
  if (media) extras.file = readFile(fieldsOf(media));
  return extras;
}

/**
 * A message as it is once a reaction is confirmed.
 * @param emoji null takes the reaction back; undefined changes nothing
 */
export function withReaction<M extends MessageExtras>(message: M, emoji: string | null | undefined, by: Reactor): M {
  if (emoji === undefined) return message;
  const others = message.reactions?.filter((one) => one.by !== by) ?? [];
  const reactions = emoji === null ? others : [...others, { by, emoji }];
  return { ...message, reactions: reactions.length > 0 ? reactions : undefined };
}

function readChoice({ type, id, title, description, section, url }: Fields): ShownChoice {
  return {
    title: textOf(title),
    description: textOf(description),
    section: textOf(section),
    id: type === "reply" ? textOf(id) : null,
    url: type === "link" ? textOf(url) : null,
  };
}

function readFile({ contentType, fileName, size, width, height }: Fields): ShownFile {
  const type = textOf(contentType);
  const pixels = Number(width) * Number(height);
  const isLink = isPicture(type) && (pixels ? pixels > MAX_PIXELS : size);
  const kind = isLink ? "other" : fileKindOf(type);
  return {
    name: textOf(fileName) || type,
    kind,
    size: numberOf(size),
    width: numberOf(width),
    height: numberOf(height),
  };
}

/** A section stands where its first choice is. */
function bySection(choices: ShownChoice[]): ShownChoice[] {
  const sections = new Set(choices.map(({ section }) => section));
  return [...sections].flatMap((section) => choices.filter((choice) => choice.section === section));
}

/** A place is never a picture of a map: whoever draws the map would learn who looks. */
function placeLines({ latitude, longitude, name, address }: Fields): Detail[] {
  if (typeof latitude !== "number" || typeof longitude !== "number") return [];
  const href = `https://www.openstreetmap.org/?mlat=${latitude}&mlon=${longitude}#map=16/${latitude}/${longitude}`;
  return [lineOf(name), lineOf(address), { text: `${latitude}, ${longitude}`, href }];
}

function cardLine({ name, phones }: Fields): Detail {
  return lineOf([name, ...(Array.isArray(phones) ? phones : [])].map(textOf).join(" · "));
}

function lineOf(text: unknown): Detail {
  return { text: textOf(text), href: null };
}

function listOf(value: unknown): Fields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : [];
}

function fieldsOf(value: unknown): Fields {
  return (value ?? {}) as Fields;
}

function numberOf(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
