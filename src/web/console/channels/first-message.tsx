import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import type { Message } from "../api.ts";
import { STATUSES } from "../inbox/bubble.tsx";
import { contactName } from "../names.ts";
import { useGet, useMembers, usePlace } from "../organization.ts";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { Time } from "../parts/time.tsx";
import { sayError } from "../parts/toast.tsx";
import { usePolling } from "../polling.ts";
import { currentSession, may } from "../session.ts";

const ASK_MS = 3_000;
const STATUS_MS = 1_000;
const UNDECIDED: readonly Message["status"][] = ["QUEUED", "SCHEDULED"];

interface FirstMessageProps {
  /** The channel's id. */
  id: string;
  /** How a first message comes in. */
  hint: string;
}

/** The last step of a set-up: a message comes in, and one goes out. */
export function FirstMessage({ id, hint }: FirstMessageProps) {
  const { api, to } = usePlace();
  const latest = useGet(may("chats:read") ? "/chats" : null, { query: { channel: id, limit: 1 } });
  const [firstMember] = useMembers();
  const sent = useSignal<Message | null>(null);
  const chat = latest.data?.chats[0];
  usePolling(latest.data !== undefined && !chat, ASK_MS, latest.reload);

  const last = sent.value;
  const isUndecided = last !== null && UNDECIDED.includes(last.status);
  usePolling(isUndecided, STATUS_MS, async () => {
    const path = { id: last?.chatId ?? "", messageId: last?.id ?? "" };
    const answer = await api.GET("/chats/{id}/messages/{messageId}", { path }).catch(() => null);
    if (answer) sent.value = answer.message;
  });

  if (!may("chats:read")) return null;
  const send = async (chatId: string) => {
    const header = { "Idempotency-Key": crypto.randomUUID() };
    // The operator is not a member, so the first member is the sender.
    const senderId = currentSession().type === "operator" ? firstMember?.id : undefined;
    const body = { content: "Hello! This is a test message.", ...(senderId !== undefined && { senderId }) };
    sent.value = (await api.POST("/chats/{id}/messages", { path: { id: chatId }, header, body })).message;
  };
  return (
    <Step title="Exchange a first message" isDone={last !== null && !isUndecided && last.error === null}>
      {!chat && (
        <>
          <p>{hint}</p>
          <p class="waiting" role="status">
            Waiting for a message…
          </p>
        </>
      )}
      {chat && (
        <>
          <p role="status">
            The latest chat is with{" "}
            <a href={to(`inbox/${chat.id}`)}>
              <bdi>{contactName(chat)}</bdi>
            </a>
            , <Time at={chat.lastMessageAt ?? chat.createdAt} long />.
          </p>
          {may("messages:send") && (
            <p>
              <Button disabled={isUndecided} onClick={() => void send(chat.id).catch(sayError)}>
                Send a test message
              </Button>
            </p>
          )}
        </>
      )}
      {last && (
        <p role="status" class={last.error ? "failed" : ""}>
          {last.error?.message ?? (last.status === "QUEUED" ? "On its way…" : `${STATUSES[last.status].word}.`)}
        </p>
      )}
    </Step>
  );
}

interface StepProps {
  title: string;
  isDone: boolean | null;
  children: ComponentChildren;
}

/** One step. Its mark is a number until it is done. */
export function Step({ title, isDone, children }: StepProps) {
  return (
    <li class={isDone ? "step step-done" : "step"}>
      <span class="step-mark">{isDone && <Icon name="check" />}</span>
      <div class="stack">
        <h2>
          {title} {isDone && <span class="hidden">(done)</span>}
        </h2>
        {children}
      </div>
    </li>
  );
}
