import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { DESCRIPTIONS } from "../../../model/channel-kind.ts";
import { fetchLater } from "../../shared/fetch-later.ts";
import type { UploadFile } from "../../shared/files/repeat-upload.ts";
import { AttachButton, pasteInto, StagedFiles, type StageTexts } from "../../shared/files/staged-files.tsx";
import { useStage } from "../../shared/files/use-stage.ts";
import { Quote } from "../../shared/message/content.tsx";
import { addressOf, type Chat, type Member } from "../api.ts";
import { plural } from "../format.ts";
import { LazyDialog } from "../lazy.tsx";
import { usePlace } from "../organization.ts";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { Menu, MenuItem } from "../parts/menu.tsx";
import { openDialog } from "../parts/opened-dialog.tsx";
import { now } from "../parts/time.tsx";
import { SCRIPT_HEADERS } from "../request.ts";
import { currentSession, may } from "../session.ts";
import { useShortcuts } from "../shortcuts.ts";
import { quotedOf, TEXTS } from "./bubble.tsx";
import type { ConversationStore } from "./conversation-store.ts";
import { drafts, readSender, saveSender, textIn } from "./drafts.ts";
import { type Conflict, Sending } from "./sending.ts";
import { windowClosesAt } from "./timeline.ts";
import { typingTeller } from "./typing.ts";
import { undoMs } from "./undo.ts";

interface ComposerProps {
  store: ConversationStore;
  chat: Chat;
  members: Member[];
  /** Whether `members` is empty only because they are not here yet. */
  isLoadingMembers: boolean;
  /** Somebody writes a note in its place. Its text stays. */
  isAside: boolean;
  /** Begins a note; null if the person may write none. */
  onNote: (() => void) | null;
}

const MAX_LENGTH = 4_096;

const STAGE: StageTexts = {
  attach: "Attach files",
  attached: "Attached files",
  removeFile: "Remove {name}",
  tooManyFiles: "You can send 10 files at a time.",
  tooLarge: "“{name}” is larger than 16 MB.",
  noBytes: "“{name}” is empty.",
};

/** The text box, with templates and sending later. */
export function Composer({ store, chat, members, isLoadingMembers, isAside, onNote }: ComposerProps) {
  const { api, organization, refresh } = usePlace();
  const { member } = currentSession();
  const written = textIn(chat.id);
  const text = written.value;
  const sending = useMemo(() => new Sending(store, chat.id), [store]);
  const isSending = sending.isBusy.value;
  const conflict = sending.conflict.value;
  const senderId = useSignal(member?.id ?? readSender(organization.id));
  const tellTyping = useMemo(() => typingTeller(api, chat.id), [api, chat.id]);
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
    takesFor: async () => (member && may("chats:write") && (await refresh()).assignOnAnswer ? member.id : null),
    undoMs: undoMs(chat.channel.kind),
    onSent: (sent) => written.peek().trim() === sent && change(""),
    onUndone(parts) {
      const texts = [...parts.map((part) => part.text), written.peek()];
      change(texts.filter((part) => part !== "").join("\n"));
      stage.putBack(parts.flatMap(({ file }) => (file ? [file] : [])));
      store.answered.value = parts.find((part) => part.answered)?.answered ?? store.answered.value;
      box.current?.focus();
    },
  };
  if (member || !isLoadingMembers) sending.senderIsKnown();
  const { stage } = sending;
  const isOver = useStage(stage, !isAside);
  const answered = store.answered.value;
  const hasFiles = stage.files.length > 0;

  const { begins } = store.writing.value;
  const seen = useRef(begins);
  // Before the next key, which is the text's.
  useLayoutEffect(() => {
    if (begins !== seen.current) box.current?.focus();
    seen.current = begins;
  }, [begins]);

  const upload: UploadFile = async (call) => {
    const { uploadFile } = await fetchLater();
    return uploadFile(addressOf(organization.id, `/chats/${chat.id}/media`), SCRIPT_HEADERS, call);
  };

  const about = answered ? { replyTo: answered.id } : {};

  const sendText = (isAnyway = false) => {
    const content = text.trim();
    if ((content === "" && !hasFiles) || excess > 0 || isSending) return;
    if (hasFiles) void sending.sendFiles({ content, ...about }, upload, isAnyway);
    else void sending.send({ content, type: "TEXT", ...about }, isAnyway);
  };

  const sendAnyway = ({ draft }: Conflict) => {
    if (draft.templateId || draft.interactive || (draft.scheduledAt && !draft.mediaId)) void sending.send(draft, true);
    else sendText(true);
  };

  const choose = (
    <LazyDialog>
      {({ TemplateDialog }) => (
        <TemplateDialog chat={chat} upload={upload} onSend={(draft) => sending.deliver({ ...draft, ...about })} />
      )}
    </LazyDialog>
  );
  const later = (
    <LazyDialog>
      {({ LaterDialog }) => (
        <LaterDialog
          text={text.trim() || stage.files.map(({ shown }) => shown.name).join(", ")}
          onSend={async (times) => {
            const content = text.trim();
            if (hasFiles) await sending.sendFiles({ content, ...about, ...times }, upload);
            else await sending.deliver({ content, type: "TEXT", ...about, ...times });
          }}
        />
      )}
    </LazyDialog>
  );
  const choices = (
    <LazyDialog>
      {({ ChoicesDialog }) => (
        <ChoicesDialog
          chat={chat}
          text={text.trim()}
          onText={change}
          onSend={(draft) => sending.deliver({ ...draft, ...about })}
        />
      )}
    </LazyDialog>
  );
  useShortcuts([{ keys: "t", label: "Answer by a template", run: () => openDialog(choose) }]);

  return (
    <div class="composer" hidden={isAside}>
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
          <Button icon="close" aria-label="Dismiss" onClick={() => (sending.conflict.value = null)} />
        </div>
      )}
      <form
        class="composer-box"
        onSubmit={(event) => {
          event.preventDefault();
          sendText();
        }}
      >
        {answered && (
          <div class="answered">
            <Quote quoted={{ ...quotedOf(store, answered, organization.id), jump: null }} texts={TEXTS} />
            <Button
              icon="close"
              aria-label="Don’t reply to this message"
              onClick={() => (store.answered.value = null)}
            />
          </div>
        )}
        <StagedFiles stage={stage} texts={STAGE} />
        <label class="hidden" for="composer">
          Message
        </label>
        <textarea
          id="composer"
          ref={box}
          rows={2}
          dir={text === "" ? undefined : "auto"}
          placeholder={isOver ? "Drop the files here" : "Write an answer"}
          onPaste={(event) => pasteInto(stage, event)}
          aria-invalid={excess > 0}
          aria-describedby="composer-hint"
          value={text}
          onInput={(event) => {
            change(event.currentTarget.value);
            if (event.currentTarget.value !== "") tellTyping();
          }}
          onKeyDown={(event) => {
            if (event.isComposing) return;
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
              event.preventDefault();
              sendText();
            }
            if (event.key === "Escape") {
              event.preventDefault();
              if (answered) store.answered.value = null;
              else event.currentTarget.blur();
            }
            if (event.key === "/" && text === "") {
              event.preventDefault();
              openDialog(choose);
            }
          }}
        />
        <div class="composer-bar">
          <AttachButton stage={stage} texts={STAGE} onChosen={() => box.current?.focus()} />
          <Button icon="template" title="Templates (/)" aria-label="Templates" opens={choose} />
          {onNote && <Button icon="note" title="Write a note (w)" aria-label="Write a note" onClick={onNote} />}
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
              disabled={(text.trim() === "" && !hasFiles) || excess > 0}
              aria-busy={isSending}
            >
              <Icon name="send" /> Send
            </button>
            <Menu up label="Send later" button={<Icon name="down" />} buttonClass="button button-main split-more">
              <MenuItem opens={later}>Send later…</MenuItem>
              <MenuItem opens={choices}>Send with choices…</MenuItem>
              <MenuItem opens={<LazyDialog>{({ UndoDialog }) => <UndoDialog />}</LazyDialog>}>Time to undo…</MenuItem>
            </Menu>
          </span>
        </div>
      </form>
    </div>
  );
}

/** Grows the box with its text in browsers without `field-sizing`. The style sheet limits the height. */
function fitHeight(box: HTMLTextAreaElement): void {
  if (CSS.supports("field-sizing", "content")) return;
  box.style.height = "auto";
  box.style.height = `${box.scrollHeight}px`;
}
