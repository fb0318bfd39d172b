import { useMemo } from "preact/hooks";
import { piecesOf, webAddress } from "../links.ts";
import type { Texts } from "../locales/en.ts";
import { refusalReason } from "../texts.ts";
import type { Line } from "../timeline.ts";
import { Icon } from "./icons.tsx";
import type { Words } from "./words.ts";

interface BubbleProps {
  line: Line;
  words: Words;
  onSendAgain: (id: string) => void;
}

/** One message with its writer (also as a word for screen readers), time and progress. */
export function Bubble({ line, words, onSendAgain }: BubbleProps) {
  const { texts, times, locale } = words;
  const { own, message, progress, refused } = line;
  // Older messages show only an icon. Screen readers always get the word.
  const inWords = line.latest || progress === "notSent" || progress === "sending";
  const place = `${own ? "own" : "theirs"}${line.first ? " first" : ""}${line.last ? " last" : ""}`;
  return (
    <div class={`message ${place}${progress === "notSent" ? " refused" : ""}`}>
      <div class="bubble">
        <span class="hidden">{own ? texts.you : texts.company}: </span>
        <MessageText message={message} texts={texts} />
        <Media message={message} texts={texts} />
      </div>
      <div class={line.timed || inWords ? "meta" : "meta quiet"}>
        <time dateTime={isoOf(line.at)} title={times.full(line.at)}>
          {times.time(line.at)}
        </time>
        {progress && <Icon name={progress} />}
        {progress && <span class={inWords ? "" : "hidden"}>{texts[progress]}</span>}
      </div>
      {refused?.trouble && (
        <div class="trouble">
          <p dir="auto">{refusalReason(refused.trouble, texts, locale)}</p>
          <button type="button" class="pill" onClick={() => onSendAgain(refused.id)}>
            <Icon name="again" />
            {texts.sendAgain}
          </button>
        </div>
      )}
    </div>
  );
}

/**
 * Shows only text and links to web addresses, never markup. A file without a caption repeats its address as the text;
 * then the link to the file is enough.
 */
function MessageText({ message, texts }: { message: Line["message"]; texts: Texts }) {
  const { text, mediaUrl } = message;
  if (text === "" && mediaUrl === null) return <p class="text removed">{texts.removed}</p>;
  if (text === "" || text.trim() === mediaUrl) return null;
  return <Linked text={text} />;
}

/** A text with its links. They are found once, however often the list is drawn. */
function Linked({ text }: { text: string }) {
  return useMemo(
    () => (
      <p class="text" dir="auto">
        {piecesOf(text).map((piece) =>
          piece.href === null ? piece.text : <Link href={piece.href}>{piece.text}</Link>,
        )}
      </p>
    ),
    [text],
  );
}

const MEDIA_WORDS = { IMAGE: "image", DOCUMENT: "document", AUDIO: "audio", VIDEO: "video" } as const;

/** Shows a file as a link, so that this page loads nothing unless the visitor opens it. */
function Media({ message, texts }: { message: Line["message"]; texts: Texts }) {
  const href = message.mediaUrl === null ? null : webAddress(message.mediaUrl, ["https:"]);
  if (href === null) return null;
  const word = message.type in MEDIA_WORDS ? MEDIA_WORDS[message.type as keyof typeof MEDIA_WORDS] : "document";
  return (
    <p class="media">
      <Icon name="file" />
      <Link href={href}>{texts[word]}</Link>
    </p>
  );
}

function Link({ href, children }: { href: string; children: string }) {
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
}

function isoOf(at: number): string {
  return Number.isFinite(at) ? new Date(at).toISOString() : "";
}
