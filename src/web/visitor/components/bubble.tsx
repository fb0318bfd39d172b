import { Linked } from "../../shared/linked.tsx";
import type { Texts } from "../locales/en.ts";
import type { SessionView } from "../session.ts";
import { refusalReason } from "../texts.ts";
import type { Line } from "../timeline.ts";
import { anchorOf, ChoiceButtons, Quote, Reactions } from "./extras.tsx";
import { Icon } from "./icons.tsx";
import { MessageMedia } from "./media.tsx";
import type { Actions, Words } from "./words.ts";

interface BubbleProps {
  line: Line;
  words: Words;
  /** Nothing can be sent now. */
  ended: boolean;
  uploading: SessionView["uploading"];
  actions: Actions;
}

/** One message with its writer (also as a word for screen readers), time and progress. */
export function Bubble({ line, words, ended, uploading, actions }: BubbleProps) {
  const { texts, times, locale } = words;
  const { own, message, progress, refused } = line;
  // Older messages show only an icon. Screen readers always get the word.
  const inWords = line.latest || progress === "notSent" || progress === "sending";
  const place = `${own ? "own" : "theirs"}${line.first ? " first" : ""}${line.last ? " last" : ""}`;
  return (
    <div
      class={`message ${place}${progress === "notSent" ? " refused" : ""}`}
      id={line.seq === null ? undefined : anchorOf(line.seq)}
      tabIndex={-1}
    >
      {line.first && !own && message.sender && <Writer name={message.sender} />}
      {line.quoted !== undefined && <Quote quoted={line.quoted} texts={texts} />}
      <div class="bubble">
        <span class="hidden">{own ? texts.you : (message.sender ?? texts.company)}: </span>
        {message.interactive?.header && (
          <p class="heading" dir="auto">
            {message.interactive.header}
          </p>
        )}
        <MessageMedia message={message} own={own} words={words} />
        <MessageText message={message} texts={texts} />
        {message.details?.map((detail) => (
          <p key={detail} class="detail" dir="auto">
            {detail}
          </p>
        ))}
        {message.interactive?.footer && (
          <p class="detail" dir="auto">
            {message.interactive.footer}
          </p>
        )}
      </div>
      <Reactions message={message} texts={texts} />
      <ChoiceButtons line={line} texts={texts} disabled={ended} onTap={actions.write} />
      <div class={line.timed || inWords || message.isEdited ? "meta" : "meta quiet"}>
        <time dateTime={isoOf(line.at)} title={times.full(line.at)}>
          {times.time(line.at)}
        </time>
        {message.isEdited && <span>{texts.edited}</span>}
        {progress && <Icon name={progress} />}
        {progress && <span class={inWords ? "" : "hidden"}>{texts[progress]}</span>}
      </div>
      {line.withdrawable !== null && (
        <div class="upload">
          {uploading?.id === line.withdrawable && <progress value={uploading.share} aria-label={message.file?.name} />}
          <button
            type="button"
            class="pill"
            aria-label={`${texts.cancel}: ${message.file?.name}`}
            onClick={() => actions.withdraw(line.withdrawable ?? "")}
          >
            {texts.cancel}
          </button>
        </div>
      )}
      {refused?.trouble && (
        <div class="trouble">
          <p dir="auto">{refusalReason(refused.trouble, texts, locale)}</p>
          <button type="button" class="pill" onClick={() => actions.sendAgain(refused.id)}>
            <Icon name="again" />
            {texts.sendAgain}
          </button>
        </div>
      )}
    </div>
  );
}

/** Who writes for the company, above the first message of a run. Each message says it to screen readers. */
function Writer({ name }: { name: string }) {
  const words = name.trim().split(/\s+/u);
  const initials = [words[0], words.length > 1 ? words.at(-1) : ""].map((word) => Array.from(word ?? "")[0] ?? "");
  return (
    <p class="writer" aria-hidden="true">
      <span class="initials">{initials.join("").toLocaleUpperCase()}</span>
      <bdi>{name}</bdi>
    </p>
  );
}

/**
 * Shows only text and links to web addresses, never markup. A file without a caption repeats its address or its name as
 * the text; then the link to the file is enough.
 */
function MessageText({ message, texts }: { message: Line["message"]; texts: Texts }) {
  const { text, mediaUrl, file } = message;
  if (text === "" && mediaUrl === null) return <p class="text removed">{texts.removed}</p>;
  if (text === "" || text.trim() === mediaUrl || text === file?.name) return null;
  return <Linked text={text} />;
}

function isoOf(at: number): string {
  return Number.isFinite(at) ? new Date(at).toISOString() : "";
}
