import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { piecesOf } from "../links.ts";
import { Outward } from "../outward.tsx";
import { ChoiceList } from "./choices.tsx";
import { isRemoved, type MessageExtras, type Reactor } from "./extras.ts";
import { type MediaView, MessageMedia } from "./media.tsx";
import type { MessageTexts } from "./texts.ts";

/** What a message shows, to the visitor and to the company alike. */
export interface MessageView extends MessageExtras {
  type: string;
  /** Empty if nothing is left of it, or if it is a file without a caption. */
  text: string;
  mediaUrl: string | null;
}

/** The message that another one answers. */
export interface Quoted {
  message: MessageView;
  writer: string;
  /** The address of its picture, if this page may load one. */
  picture: string | null;
  /** Leads there; null if the reader needs no way there. */
  jump: (() => void) | null;
}

interface ContentProps {
  message: MessageView;
  /** Null if the message has no file and no link, or none that this page may show. */
  media: MediaView | null;
  /** Who wrote it, for screen readers. */
  writer: string;
  /** Null if the answered message is not loaded, undefined if the message answers none. */
  quoted: Quoted | null | undefined;
  tapped: string | null;
  onTap: ((choice: { id: string; title: string }) => void) | null;
  /** What the reader can do with it. */
  acts?: ComponentChildren;
  /** Who reacted, for screen readers. */
  reactors: Record<Reactor, string>;
  texts: MessageTexts;
  /** The browser's, if it is left out. */
  locale?: string;
}

/** A message in its bubble, with what it answers above and its choices below. Only text and links, never markup. */
export function MessageContent(props: ContentProps) {
  const { message, media, writer, quoted, tapped, onTap, acts, reactors, texts, locale } = props;
  const { interactive, details } = message;
  return (
    <>
      <div class="bubble-row">
        <div class="bubble">
          <span class="hidden">{writer}: </span>
          {quoted !== undefined && <Quote quoted={quoted} texts={texts} />}
          {interactive?.header && (
            <p class="heading" dir="auto">
              {interactive.header}
            </p>
          )}
          {media && (
            <MessageMedia media={media} type={message.type} alt={altOf(props, texts)} texts={texts} locale={locale} />
          )}
          <MessageText message={message} texts={texts} />
          {details?.map(({ text, href }) => (
            <p key={text} class="detail" dir="auto">
              {href === null ? text : <Outward href={href}>{text}</Outward>}
            </p>
          ))}
          {interactive?.footer && (
            <p class="detail" dir="auto">
              {interactive.footer}
            </p>
          )}
        </div>
        <Reactions message={message} names={reactors} />
        {acts}
      </div>
      {interactive && <ChoiceList choices={interactive.choices} tapped={tapped} onTap={onTap} texts={texts} />}
    </>
  );
}

/** A file without a caption repeats its address or its name as the text; then the file itself is enough. */
function MessageText({ message, texts }: { message: MessageView; texts: MessageTexts }) {
  if (isRemoved(message)) return <p class="text removed">{texts.removed}</p>;
  return hasCaption(message) ? <Linked text={message.text} /> : null;
}

function hasCaption({ text, mediaUrl, file }: MessageView): boolean {
  return text !== "" && text.trim() !== mediaUrl && text !== file?.name;
}

type Written = Pick<Quoted, "message" | "writer">;

function altOf({ message, writer }: Written, texts: MessageTexts): string {
  return hasCaption(message) ? message.text : texts.pictureFrom.replace("{name}", () => writer);
}

/** A message in a line: its text, the name of its file, or what it is. */
export function summaryOf({ message, writer }: Written, texts: MessageTexts): string {
  if (isRemoved(message)) return texts.removed;
  if (!hasCaption(message) && message.file) return message.file.name;
  return message.type === "IMAGE" ? altOf({ message, writer }, texts) : message.text;
}

/** The message that this one answers, as high whatever is known of it. It leads there if it is loaded. */
export function Quote({ quoted, texts }: { quoted: Quoted | null; texts: MessageTexts }) {
  const jump = quoted?.jump;
  const shown = (
    <>
      {quoted?.picture && <img src={quoted.picture} alt="" referrerpolicy="no-referrer" />}
      <span>
        <span class="hidden">{texts.inReplyTo}: </span>
        {quoted && <bdi>{quoted.writer}</bdi>}
        <span dir="auto">{quoted ? summaryOf(quoted, texts) : texts.earlierMessage}</span>
      </span>
    </>
  );
  if (!jump) return <p class="quote">{shown}</p>;
  return (
    <button type="button" class="quote" onClick={jump}>
      {shown}
    </button>
  );
}

function Reactions({ message, names }: { message: MessageView; names: Record<Reactor, string> }) {
  if (!message.reactions) return null;
  return (
    <p class="reactions">
      {message.reactions.map(({ by, emoji }) => (
        <span key={by} title={names[by]}>
          <span class="hidden">{names[by]}: </span>
          {emoji}
        </span>
      ))}
    </p>
  );
}

/** A text with its links. They are found once, however often the conversation is drawn. */
function Linked({ text }: { text: string }) {
  return useMemo(
    () => (
      <p class="text" dir="auto">
        {piecesOf(text).map((piece) =>
          piece.href === null ? piece.text : <Outward href={piece.href}>{piece.text}</Outward>,
        )}
      </p>
    ),
    [text],
  );
}
