import type { ComponentChildren, JSX } from "preact";
import { isRemoved } from "../../shared/message/extras.ts";
import type { Member, Message } from "../api.ts";
import { duration, exactTime } from "../format.ts";
import { usePlace } from "../organization.ts";
import { Badge } from "../parts/badge.tsx";
import { Button, DangerLink } from "../parts/button.tsx";
import { Copyable } from "../parts/copy.tsx";
import { Confirm } from "../parts/dialog.tsx";
import { Facts } from "../parts/facts.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { now, Time, untilThen } from "../parts/time.tsx";
import { say, sayError } from "../parts/toast.tsx";
import { useResource } from "../resource.ts";
import { may } from "../session.ts";
import { kindOf, SentAgain, STATUSES } from "./bubble.tsx";
import type { ConversationStore } from "./conversation-store.ts";
import { elsewhere } from "./marks.ts";

interface PanelProps {
  store: ConversationStore;
  message: Message;
  members: Member[];
  onClose: () => void;
}

/** One message: its times, the attempts to deliver it with the network's words, and what can be done with it. */
export function MessagePanel({ store, message, members, onClose }: PanelProps) {
  const { id, seq, status, error, direction, senderId, origin, resendOf } = message;
  const again = store.messages.value.find((one) => one.resendOf === id);
  const original = resendOf && store.messages.value.find((one) => one.id === resendOf);
  const sender = members.find((member) => member.id === senderId);
  const isOutbound = direction === "OUTBOUND";
  const run = (work: Promise<unknown>, text: string) => void work.then(() => say(text), sayError);
  const redact = (
    <Confirm title="Redact this message?" submit="Redact" onSubmit={() => store.redact(id)}>
      <p>Its text, file and metadata are deleted here. The contact keeps what was delivered. This can’t be undone.</p>
    </Confirm>
  );
  const canSend = may("messages:send");
  const cancel = canSend && <Button onClick={() => run(store.cancel(id), "Canceled")}>Cancel it</Button>;
  return (
    <>
      <header class="between">
        <h2>Message {seq}</h2>
        <Button icon="close" aria-label="Close the message’s details" onClick={onClose} />
      </header>
      <Facts
        of={{
          Status: (
            <>
              <Badge tone={STATUSES[status].tone} label={STATUSES[status].word} />
              {error && (
                <p>
                  {error.message} <code>{error.code}</code>
                </p>
              )}
            </>
          ),
          Sender: isOutbound && <bdi>{elsewhere(message, kindOf(store)) ?? sender?.name ?? senderId ?? "Unknown"}</bdi>,
          "Scheduled for": timeOf(message.scheduledAt),
          Expires: timeOf(message.expiresAt),
          [isOutbound ? "Stored" : "Received"]: timeOf(message.createdAt),
          "Written at": timeOf(message.networkTime),
          Sent: isOutbound && timeOf(message.sentAt),
          Delivered: timeOf(message.deliveredAt),
          Read: timeOf(message.readAt),
          Failed: timeOf(message.failedAt),
          Repeats:
            resendOf && (original ? <a href={`#${resendOf}`}>Message {original.seq}</a> : <Copyable text={resendOf} />),
          Repeated: again && <SentAgain message={again} />,
          Id: <Copyable text={id} />,
        }}
      />
      {isOutbound && (!origin || origin === "away") && status !== "SCHEDULED" && (
        <Attempts message={message} cancel={cancel} />
      )}
      <section class="panel-part">
        {status === "SCHEDULED" && cancel}
        {may("chats:erase") && !isRemoved(message) && <DangerLink opens={redact}>Redact this message</DangerLink>}
      </section>
    </>
  );
}

/** Whether an attempt is over and sent nothing. */
function isOver({ durationMs, outcome }: { durationMs: number | null; outcome: string }): boolean {
  return durationMs !== null && outcome !== "unknown";
}

function timeOf(at: string | undefined): JSX.Element | undefined {
  if (at === undefined) return undefined;
  const time = Date.parse(at);
  return (
    <time dateTime={at}>
      {exactTime(time)}
      {time > now.value && `, ${untilThen(time)}`}
    </time>
  );
}

const OUTCOMES = {
  sent: "Accepted by the network",
  failed: "Refused",
  retry: "Failed, will be retried",
  unknown: "Unknown: it may arrive twice",
  moved: "The contact has a new address",
  channel_broken: "The channel is broken",
} as const;

/** @param cancel is shown if no attempt was open when they were loaded. The service refuses one that comes too late */
function Attempts({ message, cancel }: { message: Message; cancel: ComponentChildren }) {
  const { api } = usePlace();
  const { chatId, id, updatedAt } = message;
  const path = { id: chatId, messageId: id };
  const load = (signal: AbortSignal) => api.GET("/chats/{id}/messages/{messageId}/attempts", { path, signal });
  const attempts = useResource(`attempts ${id}`, load, updatedAt);
  return (
    <section class="panel-part">
      <h3>Attempts</h3>
      <Loaded resource={attempts} rows={2}>
        {({ attempts: rows, nextAttemptAt, dropped }) => (
          <>
            {rows.length === 0 && <p class="quiet">{message.status === "QUEUED" ? "None yet." : "None was needed."}</p>}
            <ol class="stack">
              {rows.map(({ number, startedAt, durationMs, outcome, code, message: words }) => (
                <li key={number} class="beside">
                  <span class="count">{number}</span>
                  <div>
                    <p>
                      <strong>{durationMs === null ? "In progress" : OUTCOMES[outcome]}</strong>{" "}
                      {code && code !== "ok" && <code>{code}</code>}
                    </p>
                    {words && (
                      <p class="quiet">
                        <bdi>{words}</bdi>
                      </p>
                    )}
                    <p class="quiet">
                      <Time at={startedAt} />
                      {durationMs !== null && ` · ${duration(durationMs)}`}
                    </p>
                  </div>
                </li>
              ))}
            </ol>
            {dropped > 0 && <p class="quiet">{dropped} attempts in between are not kept.</p>}
            {nextAttemptAt && (
              <p>
                Next attempt <Time at={nextAttemptAt} future />.
              </p>
            )}
            {message.status === "QUEUED" && rows.every(isOver) && cancel}
          </>
        )}
      </Loaded>
    </section>
  );
}
