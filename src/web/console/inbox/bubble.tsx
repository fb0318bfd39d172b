import { useMemo } from "preact/hooks";
import type { ChannelKind } from "../../../model/channel-kind.ts";
import { IN_CHATS } from "../../../model/in-chats.ts";
import { webAddress } from "../../shared/links.ts";
import { ActMenu } from "../../shared/message/act-menu.tsx";
import { MessageContent, type MessageView, type Quoted, summaryOf } from "../../shared/message/content.tsx";
import { isRemoved, type MessageExtras, reactionOf, readExtras, withReaction } from "../../shared/message/extras.ts";
import type { MediaView } from "../../shared/message/media.tsx";
import type { MessageTexts } from "../../shared/message/texts.ts";
import { addressOf, type Message } from "../api.ts";
import { exactTime, timeOfDay } from "../format.ts";
import { contactName } from "../names.ts";
import { usePlace } from "../organization.ts";
import type { Tone } from "../parts/badge.tsx";
import { Button, TextButton } from "../parts/button.tsx";
import { Icon, type IconName } from "../parts/icon.tsx";
import { untilThen } from "../parts/time.tsx";
import { sayError, useBusy } from "../parts/toast.tsx";
import { may } from "../session.ts";
import type { ConversationStore } from "./conversation-store.ts";
import { marksOf } from "./marks.ts";
import { ScheduledActions } from "./scheduled-actions.tsx";
import { Sources } from "./sources.tsx";

interface BubbleProps {
  store: ConversationStore;
  message: Message;
  isChosen: boolean;
  onChoose: (messageId: string) => void;
}

/** A status as people say it, and what marks it. */
export const STATUSES: Readonly<Record<Message["status"], { word: string; icon: IconName | null; tone: Tone }>> = {
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
  /** Its time and status are those of the next message, and are shown to the pointer and the focus. */
  isWithin: boolean;
  /** The message that sent this failed one again. */
  again: Message | undefined;
}

/** A message that has its place in the chat. A click shows its details. */
export function Bubble({ store, message, sender, isFirst, isWithin, isChosen, onChoose, again }: PlacedProps) {
  const { direction, status, createdAt, error, editedAt } = message;
  const isOwn = direction === "OUTBOUND";
  const { word, icon, tone } = STATUSES[status];
  const side = isOwn ? "own" : "theirs";
  const within = isWithin && !editedAt && !error ? " message-within" : "";
  return (
    <article
      id={message.id}
      class={`message ${side}${isFirst ? " message-first" : ""}${within} message-${status.toLowerCase()}${isChosen ? " message-chosen" : ""}`}
    >
      {isFirst && sender && (
        <p class="quiet small">
          <bdi>{sender}</bdi>
        </p>
      )}
      <Content message={message} store={store} writer={sender ?? (isOwn ? OUR_SIDE : nameOf(store))} />
      <Button
        class={`message-meta message-meta-${status.toLowerCase()}`}
        title={`${exactTime(Date.parse(createdAt))}. Show details`}
        onClick={() => onChoose(message.id)}
      >
        <time dateTime={createdAt}>{timeOfDay(Date.parse(createdAt))}</time>
        {editedAt && <span>Edited</span>}
        {marksOf(message, kindOf(store)).map((mark) => (
          <span key={mark}>{mark}</span>
        ))}
        {icon && <Icon name={icon} />}
        <span class={tone === "good" ? "hidden" : ""}>{word}</span>
      </Button>
      <Sources message={message} />
      {error && <p class="failed small">{error.message}</p>}
      {status === "FAILED" && <SendAgain store={store} message={message} again={again} />}
    </article>
  );
}

/** Sends a failed message again, once, and leads to the message that does. */
function SendAgain({ store, message, again }: Pick<PlacedProps, "store" | "message" | "again">) {
  const { isBusy, run } = useBusy();
  if (again) return <SentAgain message={again} />;
  if (!may("messages:send") || isRemoved(message)) return null;
  return (
    <Button disabled={isBusy.value} onClick={() => void run(() => store.resend(message.id))}>
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
    <article id={message.id} class={`message own message-first message-scheduled${isChosen ? " message-chosen" : ""}`}>
      <Content message={message} store={store} writer={OUR_SIDE} />
      <div class="message-meta">
        <Icon name="clock" />
        {isBeingSent ? (
          <span>Sending…</span>
        ) : (
          <TextButton title={exactTime(at)} onClick={() => onChoose(message.id)}>
            Scheduled {untilThen(at)}
          </TextButton>
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

/** What messages say in the console. */
export const TEXTS: MessageTexts = {
  removed: "This message was deleted.",
  inReplyTo: "In reply to",
  earlierMessage: "An earlier message",
  choices: "Choices",
  chosen: "Chosen",
  pictureFrom: "Picture from {name}",
  pictureGone: "This picture can’t be shown.",
  image: "Open image",
  document: "Open document",
  audio: "Open audio",
  video: "Open video",
  close: "Close the picture",
};
export const OUR_SIDE = "Your organization";
const REACTORS = { contact: "The contact reacted", organization: "Your organization reacted" };
const DELETED: MessageTexts = { ...TEXTS, removed: "Deleted by the contact." };

/** What a message shows, as the visitors' page does. */
function Content({ message, store, writer }: Pick<BubbleProps, "message" | "store"> & { writer: string }) {
  const { organization } = usePlace();
  const reacting = store.reacting.value.get(message.id);
  const extras = useMemo(() => withReaction(readExtras(message), reacting, "organization"), [message, reacting]);
  const kind = kindOf(store);
  const view = viewOf(message, extras);
  return (
    <MessageContent
      message={view}
      media={mediaOf(message, extras, organization.id)}
      writer={writer}
      quoted={quotedIn(store, extras.replyTo, organization.id)}
      tapped={store.taps.value.get(message.id) ?? null}
      onTap={null}
      reactors={REACTORS}
      texts={message.deletedAt && message.direction === "INBOUND" ? DELETED : TEXTS}
      acts={
        may("messages:send") &&
        canAct(message) && (
          <ActMenu
            label="React or reply"
            about={summaryOf({ message: view, writer }, TEXTS)}
            replyLabel="Reply"
            emoji={IN_CHATS[kind].reactions}
            reaction={reactionOf("organization", extras)}
            onReact={(emoji) => void store.react(message.id, emoji).catch(sayError)}
            onReply={() => store.write(message)}
          />
        )
      }
    />
  );
}

function viewOf({ type, text, mediaUrl }: Message, extras: MessageExtras): MessageView {
  return { type, text, mediaUrl, ...extras };
}

/**
 * An uploaded file or a contact's comes through the service. An address that a client gave an outbound message is shown
 * as a link and never loaded, because its host would learn who reads.
 */
function mediaOf(
  { mediaUrl, direction, chatId, id }: Message,
  { file }: MessageExtras,
  organization: string,
): MediaView | null {
  if (mediaUrl === null) return null;
  if (direction === "OUTBOUND" && !file) return { href: webAddress(mediaUrl, ["https:"]), kind: "other", file };
  const href = addressOf(organization, `/chats/${chatId}/messages/${id}/media`);
  return { href, kind: file?.kind ?? "other", file };
}

/** Whether a message can be answered and reacted to: it has its place, the network took it, and something is left of it. */
export function canAct(message: Message): boolean {
  const isThere = message.seq !== null && message.status !== "FAILED" && message.status !== "CANCELED";
  return isThere && !isRemoved(message);
}

/** The kind of the channel. */
export function kindOf({ chat }: ConversationStore): ChannelKind {
  return chat.value?.channel.kind ?? "web";
}

function nameOf({ chat }: ConversationStore): string {
  return chat.value ? contactName(chat.value) : "The contact";
}

function quotedIn(store: ConversationStore, id: string | undefined, organization: string): Quoted | null | undefined {
  if (id === undefined) return undefined;
  const quoted = store.byId.value.get(id);
  return quoted ? quotedOf(store, quoted, organization) : null;
}

/** A message as a quote that leads to it. */
export function quotedOf(store: ConversationStore, quoted: Message, organization: string): Quoted {
  const extras = readExtras(quoted);
  const media = mediaOf(quoted, extras, organization);
  return {
    message: viewOf(quoted, extras),
    writer: quoted.direction === "OUTBOUND" ? (extras.sender ?? OUR_SIDE) : nameOf(store),
    picture: media?.kind === "picture" ? media.href : null,
    jump: () => location.assign(`#${quoted.id}`),
  };
}
