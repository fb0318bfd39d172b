import type { ComponentChildren } from "preact";
import { Outward } from "../outward.tsx";
import { ChoiceList } from "./choices.tsx";
import type { MessageExtras, Reactor } from "./extras.ts";
import { Linked } from "./linked.tsx";
import { type MediaView, MessageMedia } from "./media.tsx";
import type { MessageTexts } from "./texts.ts";

/** What a message shows, to the visitor and to the company alike. */
export interface MessageView extends MessageExtras {
  type: string;
  /** Empty if nothing is left of it, or if it is a file without a caption. */
  text: string;
  mediaUrl: string | null;
}

/** The message that another one answers. `jump` leads there. */
export interface Quoted {
  text: string;
  jump: () => void;
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
      {quoted !== undefined && <Quote quoted={quoted} texts={texts} />}
      <div class="bubble-row">
        <div class="bubble">
          <span class="hidden">{writer}: </span>
          {interactive?.header && (
            <p class="heading" dir="auto">
              {interactive.header}
            </p>
          )}
          {media && <MessageMedia media={media} type={message.type} alt={altOf(props)} texts={texts} locale={locale} />}
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

/** Whether nothing is left of a message, because it was redacted. */
export function isRemoved({ text, mediaUrl }: Pick<MessageView, "text" | "mediaUrl">): boolean {
  return text === "" && mediaUrl === null;
}

/** A file without a caption repeats its address or its name as the text; then the file itself is enough. */
function MessageText({ message, texts }: { message: MessageView; texts: MessageTexts }) {
  if (isRemoved(message)) return <p class="text removed">{texts.removed}</p>;
  return hasCaption(message) ? <Linked text={message.text} /> : null;
}

function hasCaption({ text, mediaUrl, file }: MessageView): boolean {
  return text !== "" && text.trim() !== mediaUrl && text !== file?.name;
}

function altOf({ message, writer, texts }: ContentProps): string {
  return hasCaption(message) ? message.text : texts.pictureFrom.replace("{name}", () => writer);
}

/** The message that this one answers, in one line. It leads there if it is loaded. */
function Quote({ quoted, texts }: { quoted: Quoted | null; texts: MessageTexts }) {
  const label = <span class="hidden">{texts.inReplyTo}: </span>;
  if (!quoted) {
    return (
      <p class="quote">
        {label}
        {texts.earlierMessage}
      </p>
    );
  }
  return (
    <button type="button" class="quote" onClick={quoted.jump}>
      {label}
      <bdi>{quoted.text || texts.removed}</bdi>
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
