import { useSignal } from "@preact/signals";
import { Linked } from "../../shared/linked.tsx";
import { webAddress } from "../../shared/links.ts";
import { Outward } from "../../shared/outward.tsx";
import { isPicture, pictureBox } from "../../shared/picture.ts";
import { addressOf, type Message } from "../api.ts";
import { exactTime, fromNow, timeOfDay } from "../format.ts";
import { usePlace } from "../organization.ts";
import { Button } from "../parts/button.tsx";
import { Icon, type IconName } from "../parts/icon.tsx";
import { now } from "../parts/time.tsx";
import { sayError } from "../parts/toast.tsx";
import { may } from "../session.ts";
import type { ConversationStore } from "./conversation-store.ts";
import { Extras, Quote, Reactions } from "./message-extras.tsx";
import { ScheduledActions } from "./scheduled-actions.tsx";

interface BubbleProps {
  store: ConversationStore;
  message: Message;
  isChosen: boolean;
  onChoose: (messageId: string) => void;
}

/** A status as people say it, and what marks it. */
export const STATUSES: Readonly<
  Record<Message["status"], { word: string; icon: IconName | null; tone: "good" | "bad" | "warn" | "quiet" }>
> = {
  SCHEDULED: { word: "Scheduled", icon: "clock", tone: "warn" },
  QUEUED: { word: "Waiting", icon: "clock", tone: "warn" },
  SENT: { word: "Sent", icon: "check", tone: "good" },
  DELIVERED: { word: "Delivered", icon: "double", tone: "good" },
  READ: { word: "Read", icon: "double", tone: "good" },
  FAILED: { word: "Failed", icon: "warning", tone: "bad" },
  CANCELED: { word: "Canceled", icon: "close", tone: "quiet" },
  RECEIVED: { word: "Received", icon: null, tone: "good" },
};

interface PlacedProps extends BubbleProps {
  sender: string | null;
  isFirst: boolean;
  /** The message that sent this failed one again. */
  again: Message | undefined;
}

/** A message that has its place in the chat. A click shows its details. */
export function Bubble({ store, message, sender, isFirst, isChosen, onChoose, again }: PlacedProps) {
  const { direction, status, createdAt, error, editedAt, reactions } = message;
  const isOwn = direction === "OUTBOUND";
  const { word, icon, tone } = STATUSES[status];
  const side = isOwn ? "message-own" : "message-theirs";
  return (
    <article
      id={message.id}
      class={`message ${side}${isFirst ? " message-first" : ""} message-${status.toLowerCase()}${isChosen ? " message-chosen" : ""}`}
    >
      {isFirst && sender && (
        <p class="quiet small">
          <bdi>{sender}</bdi>
        </p>
      )}
      <div class="bubble">
        <MessageText message={message} store={store} />
      </div>
      {reactions && <Reactions of={reactions} />}
      <Button
        class={`message-meta message-meta-${status.toLowerCase()}`}
        title={`${exactTime(Date.parse(createdAt))}. Show details`}
        onClick={() => onChoose(message.id)}
      >
        <time dateTime={createdAt}>{timeOfDay(Date.parse(createdAt))}</time>
        {editedAt && <span>Edited</span>}
        {icon && <Icon name={icon} />}
        <span class={tone === "good" ? "hidden" : ""}>{word}</span>
      </Button>
      {error && <p class="failed small">{error.message}</p>}
      {status === "FAILED" && <SendAgain store={store} message={message} again={again} />}
    </article>
  );
}

/** Sends a failed message again, once, and leads to the message that does. */
function SendAgain({ store, message, again }: Pick<PlacedProps, "store" | "message" | "again">) {
  const isBusy = useSignal(false);
  if (again) return <SentAgain message={again} />;
  if (!may("messages:send") || isBlank(message)) return null;
  const send = async () => {
    isBusy.value = true;
    await store.resend(message.id).catch(sayError);
    isBusy.value = false;
  };
  return (
    <Button disabled={isBusy.value} onClick={() => void send()}>
      <Icon name="again" /> Send again
    </Button>
  );
}

/** Leads to the message that sent a failed one again. */
export function SentAgain({ message: { id, seq, status } }: { message: Message }) {
  if (seq === null && status !== "SCHEDULED") {
    return <p class="quiet small">Sent again, and {STATUSES[status].word.toLowerCase()}</p>;
  }
  return (
    <a class="link small" href={`#${id}`}>
      Sent again {seq === null ? "later" : `as message ${seq}`}
    </a>
  );
}

/** A scheduled message that is due so soon is a send that can be undone. */
const UNDO_MS = 11_000;

/** A message that waits for its time. It has no place in the chat yet. */
export function ScheduledBubble({ message, isChosen, onChoose, store }: BubbleProps) {
  const at = Date.parse(message.scheduledAt ?? message.createdAt);
  const isBeingSent = at - Date.parse(message.createdAt) < UNDO_MS;
  return (
    <article
      id={message.id}
      class={`message message-own message-first message-scheduled${isChosen ? " message-chosen" : ""}`}
    >
      <div class="bubble">
        <MessageText message={message} store={store} />
      </div>
      <div class="message-meta">
        <Icon name="clock" />
        {isBeingSent ? (
          <span>Sending…</span>
        ) : (
          <Button class="link" title={exactTime(at)} onClick={() => onChoose(message.id)}>
            Scheduled {fromNow(at, now.value)}
          </Button>
        )}
        {!isBeingSent && (
          <ScheduledActions
            at={at}
            label="Change this scheduled message"
            move={(scheduledAt) => store.move(message.id, scheduledAt)}
            cancel={() => store.cancel(message.id)}
          />
        )}
      </div>
    </article>
  );
}

/**
 * The text of a message, and its file. Only text and links, never markup. A picture of ours or a contact's is shown, any
 * other file is a download; an address that a client gave an outbound message is a link that is never loaded, as its host
 * would learn who reads.
 */
function MessageText({ message, store }: Pick<BubbleProps, "message" | "store">) {
  const { organization } = usePlace();
  const isGone = useSignal(false);
  const { text, mediaUrl, media, direction, type, chatId, id, replyTo, interactive } = message;
  if (isBlank(message))
    return (
      <p class="quiet">
        <em>{message.deletedAt ? "Deleted by the contact." : "This message was deleted."}</em>
      </p>
    );
  // A file without a caption has its name as the text.
  const isRepeated = text.trim() === mediaUrl || text === media?.fileName;
  const isFile = direction === "INBOUND" || media !== undefined;
  const file = addressOf(organization.id, `/chats/${chatId}/messages/${id}/media`);
  const picture = isFile && media !== undefined && isPicture(media.contentType) && !isGone.value;
  const outward = mediaUrl === null || isFile ? null : webAddress(mediaUrl, ["https:"]);
  return (
    <>
      {replyTo !== undefined && <Quote store={store} replyTo={replyTo} />}
      {picture && (
        <Picture
          href={file}
          alt={isRepeated ? media.fileName || "Picture" : text}
          media={media}
          onGone={() => (isGone.value = true)}
        />
      )}
      {mediaUrl !== null && !picture && (
        <p class="line">
          <Icon name="file" />
          {isFile ? (
            <a href={file} download>
              Download {media?.fileName ? <bdi>{media.fileName}</bdi> : `the ${type.toLowerCase()}`}
            </a>
          ) : outward === null ? (
            <span>{type.toLowerCase()}</span>
          ) : (
            <Outward href={outward}>{type === "TEXT" ? "Link" : `Open the ${type.toLowerCase()}`}</Outward>
          )}
        </p>
      )}
      {interactive?.header && (
        <p dir="auto">
          <strong>{interactive.header}</strong>
        </p>
      )}
      {text !== "" && !isRepeated && <Linked text={text} />}
      <Extras message={message} />
    </>
  );
}

interface PictureProps {
  href: string;
  alt: string;
  media: NonNullable<Message["media"]>;
  onGone: () => void;
}

/** A picture, loaded as it comes into view. A click opens it alone. */
function Picture({ href, alt, media, onGone }: PictureProps) {
  return (
    <a class="picture" href={href} target="_blank" rel="noopener">
      <img src={href} alt={alt} loading="lazy" decoding="async" style={pictureBox(media)} onError={onGone} />
    </a>
  );
}

/** Whether nothing is left of a message, because it was redacted. */
export function isBlank({ text, mediaUrl }: Message): boolean {
  return text === "" && mediaUrl === null;
}
