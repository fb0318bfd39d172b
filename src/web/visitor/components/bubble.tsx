import { webAddress } from "../../shared/links.ts";
import { ActMenu } from "../../shared/message/act-menu.tsx";
import { MessageContent, type Quoted, summaryOf } from "../../shared/message/content.tsx";
import { isRemoved, reactionOf } from "../../shared/message/extras.ts";
import type { MediaView } from "../../shared/message/media.tsx";
import type { ChatMessage } from "../frames.ts";
import type { ChatSession } from "../session.ts";
import type { SessionView } from "../session-view.ts";
import { refusalReason } from "../texts.ts";
import type { Line } from "../timeline.ts";
import { Icon } from "./icons.tsx";
import type { Words } from "./words.ts";

export interface BubbleProps {
  line: Line;
  words: Words;
  view: SessionView;
  /** Nothing can be sent any longer. */
  ended: boolean;
  session: ChatSession;
  /** @param id of the message that the visitor wants to answer */
  onAnswer: (id: string) => void;
  /** Leads to a message. */
  onJump: (seq: number) => void;
}

/** One message with its writer (also as a word for screen readers), time and progress. */
export function Bubble({ line, words, view, ended, session, onAnswer, onJump }: BubbleProps) {
  const { texts, times, locale } = words;
  const { own, message, progress, refused } = line;
  const { id } = message;
  const { uploading, features, link } = view;
  const writer = own ? texts.you : (message.sender ?? texts.company);
  const { seq } = line;
  const canAct = seq !== null && id !== undefined && !ended && !isRemoved(message);
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
      <MessageContent
        message={message}
        media={mediaOf(message)}
        writer={writer}
        quoted={line.quoted && quotedOf(line.quoted, words, onJump)}
        tapped={line.tapped}
        onTap={
          id === undefined || ended
            ? null
            : (choice) => session.write(choice.title, { choice: { ...choice, messageId: id } })
        }
        reactors={{ contact: texts.you, organization: words.title }}
        texts={texts}
        locale={locale}
        acts={
          canAct && (
            <ActMenu
              label={texts.act}
              about={summaryOf({ message, writer }, texts)}
              replyLabel={texts.reply}
              reaction={reactionOf("contact", message)}
              onReact={
                features.includes("reactions") && link === "online" ? (emoji) => session.react(seq, emoji) : null
              }
              onReply={features.includes("replies") ? () => onAnswer(id) : null}
            />
          )
        }
      />
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
            onClick={() => session.withdraw(line.withdrawable ?? "")}
          >
            {texts.cancel}
          </button>
        </div>
      )}
      {refused?.trouble && (
        <div class="trouble">
          <p dir="auto">{refusalReason(refused.trouble, texts, locale)}</p>
          <button type="button" class="pill" onClick={() => session.sendAgain(refused.id)}>
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

/** The element of a message. */
function anchorOf(seq: number): string {
  return `message-${seq}`;
}

/** A message as a quote, which leads to it by `onJump`. */
export function quotedOf(message: ChatMessage, { texts, title }: Words, onJump: BubbleProps["onJump"] | null): Quoted {
  const media = mediaOf(message);
  return {
    message,
    writer: message.direction === "INBOUND" ? texts.you : (message.sender ?? title),
    picture: media?.kind === "picture" ? media.href : null,
    jump: onJump && (() => onJump(message.seq)),
  };
}

/** Brings a message into view, and marks it for a moment. */
export function showMessage(seq: number): void {
  const message = document.getElementById(anchorOf(seq));
  const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  message?.scrollIntoView({ block: "center", behavior: isCalm ? "auto" : "smooth" });
  message?.focus({ preventScroll: true });
  const ring = "3px solid var(--focus)";
  message
    ?.querySelector(".bubble")
    ?.animate({ outline: [ring, isCalm ? ring : "3px solid transparent"] }, { duration: 1_500, easing: "ease-in" });
}

/** A linked picture is shown: the company chose it. A link must be https; an uploaded file has our address. */
function mediaOf({ mediaUrl, file, type }: Line["message"]): MediaView | null {
  if (!mediaUrl && !file) return null;
  // The file is on its way, and this page has it.
  const isHere = file !== undefined && mediaUrl?.startsWith("blob:") === true;
  const href = isHere ? mediaUrl : webAddress(mediaUrl ?? "", file ? undefined : ["https:"]);
  return { href, kind: file?.kind ?? (type === "IMAGE" ? "picture" : "other"), file };
}

function isoOf(at: number): string {
  return Number.isFinite(at) ? new Date(at).toISOString() : "";
}
