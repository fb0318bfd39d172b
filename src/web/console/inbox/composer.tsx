import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { type Chat, type Member, type Message, ParleyError } from "../api.ts";
import { plural } from "../format.ts";
import { usePlace } from "../organization.ts";
import { Icon } from "../parts/icon.tsx";
import { Menu, MenuItem } from "../parts/menu.tsx";
import { now } from "../parts/time.tsx";
import { say, sayError } from "../parts/toast.tsx";
import { serviceNow } from "../service-clock.ts";
import { currentSession } from "../session.ts";
import { useShortcuts } from "../shortcuts.ts";
import type { ConversationStore, Draft } from "./conversation-store.ts";
import {
  readDraft,
  readSender,
  readUndecided,
  saveDraft,
  saveSender,
  saveUndecided,
  type Undecided,
} from "./drafts.ts";
import { LaterDialog } from "./later-dialog.tsx";
import { TemplateDialog } from "./template-dialog.tsx";
import { windowClosesAt } from "./timeline.ts";

interface ComposerProps {
  store: ConversationStore;
  chat: Chat;
  members: Member[];
}

const MAX_LENGTH = 4_096;
const STILL_SENDING = new ParleyError("The last message is still being sent. Try again in a moment.", {
  status: null,
  code: "busy",
});
/** A send can be undone for so long. */
const UNDO_MS = 5_000;

/** A send that can still be taken back. */
interface Undoable {
  messageId: string;
  /** What comes back into the box. */
  text: string;
  removeToast: () => void;
}

/** A send that was refused because others wrote meanwhile. */
interface Crossed {
  draft: Draft;
  by: string;
}

/** The text box, with templates, sending later, and undo. */
export function Composer({ store, chat, members }: ComposerProps): JSX.Element {
  const { organization } = usePlace();
  const { member } = currentSession();
  const [text, setText] = useState(() => readDraft(chat.id));
  const [isSending, setSending] = useState(false);
  const crossed = useSignal<Crossed | null>(null);
  const open = useSignal<"later" | "template" | null>(null);
  const undoable = useSignal<Undoable | null>(null);
  const [senderId, setSenderId] = useState(() => member?.id ?? readSender(organization.id));
  const box = useRef<HTMLTextAreaElement>(null);
  /** What is in the box, for work that began before it changed. */
  const latest = useRef(text);
  /** The messages that were sent from here. */
  const ownIds = useRef(new Set<string>());
  /** Two sends that can both be undone stay in their order, whatever the clock says meanwhile. */
  const lastDueAt = useRef(0);
  // The operator writes in a member's name.
  const sender = members.some(({ id }) => id === senderId) ? senderId : (member?.id ?? members[0]?.id ?? null);
  const excess = text.trim().length - MAX_LENGTH;
  const closesAt = windowClosesAt(store.messages.value);
  const isClosed = chat.channel.kind === "whatsapp" && !(closesAt !== null && closesAt > now.value);

  useEffect(() => {
    if (box.current) fitHeight(box.current);
  }, [text]);

  const change = (next: string) => {
    latest.current = next;
    setText(next);
    saveDraft(chat.id, next);
    // A refused text was corrected.
    if (crossed.value && !crossed.value.draft.templateId) crossed.value = null;
  };

  const undo = async (sent: Undoable) => {
    try {
      await store.cancel(sent.messageId);
      change([sent.text, latest.current].filter((part) => part !== "").join("\n"));
      box.current?.focus();
    } catch (error) {
      const isTooLate = error instanceof ParleyError && error.code === "not_cancelable";
      if (!isTooLate) return sayError(error);
      say("It is on its way already", null, true);
    }
    undoable.value = null;
    sent.removeToast();
  };

  /** The body of a send, and its key. The repeat of a send whose answer was lost is the same, so it sends nothing twice. */
  const decided = (draft: Draft, isAnyway: boolean): Undecided => {
    const before = readUndecided(chat.id);
    if (before && JSON.stringify(before.draft) === JSON.stringify(draft)) return before;
    const dueAt = Math.max(serviceNow() + UNDO_MS, lastDueAt.current + 1);
    const body: Draft = {
      ...draft,
      ...(sender !== null && { senderId: sender }),
      ...(draft.scheduledAt === undefined && { scheduledAt: new Date(dueAt).toISOString() }),
      ...(!isAnyway && { ifSeq: store.newestSeq() }),
    };
    if (draft.scheduledAt === undefined) lastDueAt.current = dueAt;
    return { key: crypto.randomUUID(), draft, body };
  };

  /** @param isAnyway send though others wrote meanwhile */
  const send = async (draft: Draft, isAnyway = false): Promise<void> => {
    setSending(true);
    const undecided = decided(draft, isAnyway);
    saveUndecided(chat.id, undecided);
    try {
      const message = await store.send(undecided.body, undecided.key);
      saveUndecided(chat.id, null);
      crossed.value = null;
      sent(draft, message.id);
    } catch (error) {
      const isKnown = error instanceof ParleyError && error.status !== null && error.status < 500;
      if (isKnown) saveUndecided(chat.id, null);
      if (error instanceof ParleyError && error.code === "chat_moved_on") await cross(draft);
      else sayError(error);
    } finally {
      setSending(false);
    }
  };

  /** What was sent leaves the box, but not what was written since. */
  const sent = (draft: Draft, messageId: string) => {
    ownIds.current.add(messageId);
    const content = draft.templateId ? "" : draft.content;
    if (content !== "" && latest.current.trim() === content) change("");
    if (draft.scheduledAt !== undefined) {
      say("Scheduled");
      return;
    }
    const undoing: Undoable = { messageId, text: content, removeToast: () => {} };
    undoing.removeToast = say("Sending", { label: "Undo (Esc)", run: () => void undo(undoing) });
    undoable.value = undoing;
    setTimeout(() => {
      if (undoable.value === undoing) undoable.value = null;
    }, UNDO_MS);
  };

  /** Others wrote meanwhile. What was sent from here, and took its place meanwhile, is no reason to ask. */
  const cross = async (draft: Draft) => {
    const before = store.newestSeq();
    await store.refresh();
    const newer = store.messages.value.filter(({ seq }) => (seq ?? 0) > before);
    if (newer.length > 0 && newer.every(({ id }) => ownIds.current.has(id))) await send(draft);
    else crossed.value = { draft, by: crossedBy(newer, members) };
  };

  const sendText = (isAnyway = false) => {
    const content = text.trim();
    if (content === "" || excess > 0 || isSending) return;
    void send({ content, type: "TEXT" }, isAnyway);
  };

  const sendAnyway = ({ draft }: Crossed) => {
    if (draft.templateId || draft.scheduledAt) void send(draft, true);
    else sendText(true);
  };

  useShortcuts([{ keys: "t", label: "Answer by a template", run: () => (open.value = "template") }]);

  return (
    <div class="composer">
      {isClosed && (
        <div class="notice notice-warn">
          <Icon name="clock" />
          <p>
            WhatsApp’s window is closed: the contact’s last message is older than 24 hours. Only templates are
            delivered.
          </p>
          <button type="button" class="button" onClick={() => (open.value = "template")}>
            Use a template
          </button>
        </div>
      )}
      {crossed.value && (
        <div class="notice notice-warn" role="alert">
          <Icon name="warning" />
          <p>{crossed.value.by} Your message was not sent.</p>
          <button
            type="button"
            class="button"
            disabled={isSending}
            onClick={() => crossed.value && sendAnyway(crossed.value)}
          >
            Send all the same
          </button>
          <button type="button" class="plain" aria-label="Dismiss" onClick={() => (crossed.value = null)}>
            <Icon name="close" />
          </button>
        </div>
      )}
      <form
        class="composer-box"
        onSubmit={(event) => {
          event.preventDefault();
          sendText();
        }}
      >
        <label class="hidden" for="composer">
          Message
        </label>
        <textarea
          id="composer"
          ref={box}
          rows={2}
          dir={text === "" ? undefined : "auto"}
          placeholder="Write an answer"
          aria-invalid={excess > 0}
          aria-describedby="composer-hint"
          value={text}
          onInput={(event) => change(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.isComposing) return;
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
              event.preventDefault();
              sendText();
            }
            if (event.key === "Escape") {
              event.preventDefault();
              event.currentTarget.blur();
            }
            if (event.key === "/" && text === "") {
              event.preventDefault();
              open.value = "template";
            }
          }}
        />
        <div class="composer-bar">
          <button
            type="button"
            class="plain"
            title="Templates (/)"
            aria-label="Templates"
            onClick={() => (open.value = "template")}
          >
            <Icon name="template" />
          </button>
          {member === null && (
            <label class="composer-sender">
              as{" "}
              <select
                value={sender ?? ""}
                onChange={(event) => {
                  setSenderId(event.currentTarget.value);
                  saveSender(organization.id, event.currentTarget.value);
                }}
              >
                {members.map(({ id, name }) => (
                  <option key={id} value={id}>
                    {name}
                  </option>
                ))}
              </select>
            </label>
          )}
          <span id="composer-hint" class={excess > 0 ? "composer-hint failed" : "composer-hint quiet"} role="status">
            {excess > 0 ? `${plural(excess, "character")} too long` : "Ctrl Enter sends"}
          </span>
          <span class="split">
            <button
              type="submit"
              class="button button-main"
              disabled={text.trim() === "" || excess > 0}
              aria-busy={isSending}
            >
              <Icon name="send" /> Send
            </button>
            <Menu up label="Send later" button={<Icon name="down" />} buttonClass="button button-main split-more">
              {(close) => (
                <MenuItem
                  onChoose={() => {
                    close();
                    open.value = "later";
                  }}
                >
                  Send later, or until…
                </MenuItem>
              )}
            </Menu>
          </span>
        </div>
      </form>
      {open.value === "later" && (
        <LaterDialog
          text={text.trim()}
          onClose={() => (open.value = null)}
          onSend={async (times) => {
            if (isSending) throw STILL_SENDING;
            open.value = null;
            await send({ content: text.trim(), type: "TEXT", ...times });
          }}
        />
      )}
      {open.value === "template" && (
        <TemplateDialog
          chat={chat}
          onClose={() => (open.value = null)}
          onSend={(draft) => {
            if (isSending) throw STILL_SENDING;
            open.value = null;
            void send(draft);
          }}
        />
      )}
      <UndoKey undoable={undoable.value} onUndo={(sent) => void undo(sent)} />
    </div>
  );
}

/** Escape undoes the last send, wherever the focus is. */
function UndoKey({ undoable, onUndo }: { undoable: Undoable | null; onUndo: (sent: Undoable) => void }): null {
  useEffect(() => {
    if (!undoable) return;
    const press = (event: KeyboardEvent) => {
      if (event.key !== "Escape" || document.querySelector("dialog[open], .menu-list")) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      onUndo(undoable);
    };
    addEventListener("keydown", press, { capture: true });
    return () => removeEventListener("keydown", press, { capture: true });
  }, [undoable]);
  return null;
}

function crossedBy(newer: Message[], members: Member[]): string {
  const own = newer.find(({ direction }) => direction === "OUTBOUND");
  if (own) return `${members.find(({ id }) => id === own.senderId)?.name ?? "Somebody"} answered meanwhile.`;
  return newer.length > 0 ? "The contact wrote meanwhile." : "The chat has newer messages.";
}

/** Grows the box with its text in browsers without `field-sizing`. The style sheet limits the height. */
function fitHeight(box: HTMLTextAreaElement): void {
  if (CSS.supports("field-sizing", "content")) return;
  box.style.height = "auto";
  box.style.height = `${box.scrollHeight}px`;
}
