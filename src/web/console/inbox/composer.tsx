import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { DESCRIPTIONS } from "../../../channels/descriptions.ts";
import type { Chat, Member } from "../api.ts";
import { plural } from "../format.ts";
import { usePlace } from "../organization.ts";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { Menu, MenuItem } from "../parts/menu.tsx";
import { openDialog } from "../parts/opened-dialog.tsx";
import { now } from "../parts/time.tsx";
import { currentSession } from "../session.ts";
import { useShortcuts } from "../shortcuts.ts";
import type { ConversationStore } from "./conversation-store.ts";
import { drafts, readSender, saveSender } from "./drafts.ts";
import { LaterDialog } from "./later-dialog.tsx";
import { type Conflict, Sending, type Undoable } from "./sending.ts";
import { TemplateDialog } from "./template-dialog.tsx";
import { windowClosesAt } from "./timeline.ts";
import { UndoDialog, undoMs } from "./undo.tsx";

interface ComposerProps {
  store: ConversationStore;
  chat: Chat;
  members: Member[];
}

const MAX_LENGTH = 4_096;

/** The text box, with templates, sending later, and undo. */
export function Composer({ store, chat, members }: ComposerProps) {
  const { organization } = usePlace();
  const { member } = currentSession();
  const written = useSignal(drafts.read(chat.id) ?? "");
  const text = written.value;
  const sending = useMemo(() => new Sending(store, chat.id), [store]);
  const isSending = sending.isBusy.value;
  const conflict = sending.conflict.value;
  const senderId = useSignal(member?.id ?? readSender(organization.id));
  const box = useRef<HTMLTextAreaElement>(null);
  // The operator writes in a member's name.
  const sender = members.some(({ id }) => id === senderId.value)
    ? senderId.value
    : (member?.id ?? members[0]?.id ?? null);
  const excess = text.trim().length - MAX_LENGTH;
  const { freeTextHours } = DESCRIPTIONS[chat.channel.kind];
  const isClosed = freeTextHours && (windowClosesAt(store.messages.value, freeTextHours) ?? 0) <= now.value;

  useEffect(() => {
    if (box.current) fitHeight(box.current);
  }, [text]);

  const change = (next: string) => {
    written.value = next;
    drafts.save(chat.id, next);
    sending.corrected();
  };
  sending.state = {
    sender,
    members: member ? [...members, member] : members,
    undoMs: undoMs(chat.channel.kind),
    onSent: (sent) => written.peek().trim() === sent && change(""),
    onUndone(undone) {
      change([undone, written.peek()].filter((part) => part !== "").join("\n"));
      box.current?.focus();
    },
  };

  const sendText = (isAnyway = false) => {
    const content = text.trim();
    if (content === "" || excess > 0 || isSending) return;
    void sending.send({ content, type: "TEXT" }, isAnyway);
  };

  const sendAnyway = ({ draft }: Conflict) => {
    if (draft.templateId || draft.scheduledAt) void sending.send(draft, true);
    else sendText(true);
  };

  const choose = <TemplateDialog chat={chat} onSend={(draft) => sending.deliver(draft)} />;
  const later = (
    <LaterDialog
      text={text.trim()}
      onSend={(times) => sending.deliver({ content: text.trim(), type: "TEXT", ...times })}
    />
  );
  useShortcuts([{ keys: "t", label: "Answer by a template", run: () => openDialog(choose) }]);

  return (
    <div class="composer">
      {isClosed && (
        <div class="notice tone-warn">
          <Icon name="clock" />
          <p>The contact’s last message is older than {freeTextHours} hours. Only templates are delivered.</p>
          <Button opens={choose}>Use a template</Button>
        </div>
      )}
      {conflict && (
        <div class="notice tone-warn" role="alert">
          <Icon name="warning" />
          <p>{conflict.by} Your message was not sent.</p>
          <Button disabled={isSending} onClick={() => sendAnyway(conflict)}>
            Send anyway
          </Button>
          <Button class="plain" aria-label="Dismiss" onClick={() => (sending.conflict.value = null)}>
            <Icon name="close" />
          </Button>
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
              openDialog(choose);
            }
          }}
        />
        <div class="composer-bar">
          <Button class="plain" title="Templates (/)" aria-label="Templates" opens={choose}>
            <Icon name="template" />
          </Button>
          {member === null && (
            <label class="line quiet note">
              as{" "}
              <select
                value={sender ?? ""}
                onChange={(event) => {
                  senderId.value = event.currentTarget.value;
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
          <span id="composer-hint" class={excess > 0 ? "end small failed" : "end small quiet wide-only"} role="status">
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
              <MenuItem opens={later}>Send later…</MenuItem>
              <MenuItem opens={<UndoDialog />}>Time to undo…</MenuItem>
            </Menu>
          </span>
        </div>
      </form>
      <UndoKey undoable={sending.undoable.value} onUndo={(sent) => void sending.undo(sent)} />
    </div>
  );
}

/** Escape undoes the last send, wherever the focus is. */
function UndoKey({ undoable, onUndo }: { undoable: Undoable | null; onUndo: (sent: Undoable) => void }): null {
  // Before the browser can take the next key.
  useLayoutEffect(() => {
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

/** Grows the box with its text in browsers without `field-sizing`. The style sheet limits the height. */
function fitHeight(box: HTMLTextAreaElement): void {
  if (CSS.supports("field-sizing", "content")) return;
  box.style.height = "auto";
  box.style.height = `${box.scrollHeight}px`;
}
