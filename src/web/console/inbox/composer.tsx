import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { AttachButton, pasteInto, StagedFiles, type StageTexts } from "../../shared/files/staged-files.tsx";
import { useStage } from "../../shared/files/use-stage.ts";
import { Quote } from "../../shared/message/content.tsx";
import type { Chat, Member, Message } from "../api.ts";
import { Lazy, LazyDialog, LazyExtra } from "../lazy.tsx";
import { usePlace } from "../organization.ts";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Icon } from "../parts/icon.tsx";
import { Menu, MenuItem } from "../parts/menu.tsx";
import { openDialog } from "../parts/opened-dialog.tsx";
import { TextBox } from "../parts/text-box.tsx";
import { currentSession } from "../session.ts";
import { useShortcuts } from "../shortcuts.ts";
import { quotedOf, TEXTS } from "./bubble.tsx";
import { ClosedNotice } from "./closed-notice.tsx";
import { ConflictNotice } from "./conflict-notice.tsx";
import type { ConversationStore } from "./conversation-store.ts";
import { SenderChoice } from "./sender-choice.tsx";
import { Sending } from "./sending.ts";
import { typingTeller } from "./typing.ts";
import { selectUnfilled } from "./unfilled.ts";

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

const STAGE: StageTexts = {
  attach: "Attach files",
  attached: "Attached files",
  removeFile: "Remove {name}",
  tooManyFiles: "You can send 10 files at a time.",
  tooLarge: "“{name}” is larger than 16 MB.",
  noBytes: "“{name}” is empty.",
};

/** What is written to the contact: the text box with its files, templates and sending later. */
export function Composer({ store, chat, members, isLoadingMembers, isAside, onNote }: ComposerProps) {
  const place = usePlace();
  const sending = useMemo(() => new Sending(store, chat, place), [store]);
  const tellTyping = useMemo(() => typingTeller(place.api, chat.id), [place.api, chat.id]);
  const box = useRef<HTMLTextAreaElement>(null);
  const { stage } = sending;
  const isOver = useStage(stage, !isAside);
  const text = sending.text.value;
  const answered = store.answered.value;
  const hasBegun = !sending.isEmpty();
  const isReady = store.state.value === "ready";
  useLayoutEffect(() => {
    if (isReady) sending.begins(hasBegun);
  }, [sending, isReady, hasBegun]);
  const choose = (
    <LazyDialog>
      {({ TemplateDialog }) => (
        <Begun sending={sending}>
          <TemplateDialog chat={chat} upload={sending.upload} onSend={(draft) => sending.deliver(draft)} />
        </Begun>
      )}
    </LazyDialog>
  );
  const reply = useSignal("");
  // Once the dialog is gone: it keeps the focus.
  useLayoutEffect(() => {
    const area = box.current;
    if (reply.value === "" || !area) return;
    area.focus();
    const from = area.selectionStart;
    // Only so the browser's own keys can undo it.
    document.execCommand("insertText", false, reply.value);
    selectUnfilled(area, from, area.selectionEnd);
    reply.value = "";
  }, [reply.value]);
  const pick = () => {
    if (isAside) return;
    // They are the text's again, once the dialog is closed.
    box.current?.focus();
    openDialog(
      <Begun sending={sending}>
        <Dialog title="Saved replies" atTop>
          <Lazy>
            {({ ReplyPicker }) => (
              <ReplyPicker store={store} sending={sending} templates={choose} onPut={(text) => (reply.value = text)} />
            )}
          </Lazy>
        </Dialog>
      </Begun>,
    );
  };
  const drafted = store.drafted.value;
  useLayoutEffect(() => {
    if (drafted) void sending.takeDraft(drafted);
  }, [drafted]);
  const conflict = sending.conflict.value;
  useLayoutEffect(() => {
    if (!conflict?.unfilled || !box.current) return;
    box.current.focus();
    selectUnfilled(box.current);
  }, [conflict]);
  useShortcuts([
    { keys: "t", label: "Answer by a template", run: () => openDialog(choose) },
    { keys: "Ctrl /", label: "Put in a saved reply", run: pick },
  ]);
  return (
    <div class="composer" hidden={isAside}>
      <LazyExtra>{({ BotNotice }) => <BotNotice chat={chat} />}</LazyExtra>
      <ClosedNotice chat={chat} choose={choose} />
      <ConflictNotice sending={sending} members={members} />
      <TextBox
        id="composer"
        box={box}
        value={text}
        begins={isAside ? 0 : store.writing.value.begins}
        isEmpty={sending.isEmpty()}
        isBusy={sending.isBusy.value}
        onSubmit={() => void sending.sendWaiting()}
        hint="Ctrl Enter sends"
        hintClass="end quiet"
        placeholder={isOver ? "Drop the files here" : "Write an answer. / opens saved replies"}
        onPaste={(event) => pasteInto(stage, event)}
        onInput={({ currentTarget: { value } }) => {
          sending.write(value);
          if (value !== "") tellTyping();
        }}
        onKeyDown={(event) => {
          if (event.key === "Escape" && answered) store.answered.value = null;
          else if (event.key === "Escape") event.currentTarget.blur();
          else if (event.key === "/" && text === "") pick();
          else return;
          event.preventDefault();
        }}
        bar={(hint, submit) => (
          <>
            <AttachButton stage={stage} texts={STAGE} onChosen={() => box.current?.focus()} />
            <Button icon="reply" title="Saved replies (/)" aria-label="Saved replies" onClick={pick} />
            <Button icon="template" title="Templates (t)" aria-label="Templates" opens={choose} />
            {onNote && <Button icon="note" title="Write a note (w)" aria-label="Write a note" onClick={onNote} />}
            {currentSession().member === null && (
              <SenderChoice sending={sending} members={members} isLoading={isLoadingMembers} />
            )}
            {hint}
            <span class="split">
              <button class="button button-main" {...submit}>
                <Icon name="send" /> Send
              </button>
              <SendMenu chat={chat} sending={sending} />
            </span>
          </>
        )}
      >
        {answered && <Answered store={store} message={answered} />}
        <StagedFiles stage={stage} texts={STAGE} />
        <label class="hidden" for="composer">
          Message
        </label>
      </TextBox>
    </div>
  );
}

/** A dialog in which a message is begun. It covers what others write meanwhile. */
function Begun({ sending, children }: { sending: Sending; children: ComponentChildren }) {
  useLayoutEffect(() => {
    sending.begins(true);
    return () => sending.begins(!sending.isEmpty());
  }, []);
  return <>{children}</>;
}

/** The message that the next one answers. */
function Answered({ store, message }: { store: ConversationStore; message: Message }) {
  const { organization } = usePlace();
  return (
    <div class="answered">
      <Quote quoted={{ ...quotedOf(store, message, organization.id), jump: null }} texts={TEXTS} />
      <Button icon="close" aria-label="Don’t reply to this message" onClick={() => (store.answered.value = null)} />
    </div>
  );
}

/** Other ways to send what waits. */
function SendMenu({ chat, sending }: { chat: Chat; sending: Sending }) {
  const text = sending.text.value.trim();
  const later = (
    <LazyDialog>
      {({ LaterDialog }) => (
        <LaterDialog
          text={text || sending.stage.files.map(({ shown }) => shown.name).join(", ")}
          onSend={(times) => sending.deliverWaiting(times)}
        />
      )}
    </LazyDialog>
  );
  const choices = (
    <LazyDialog>
      {({ ChoicesDialog }) => (
        <Begun sending={sending}>
          <ChoicesDialog
            chat={chat}
            text={text}
            onText={(next) => sending.write(next)}
            onSend={(draft) => sending.deliver(draft)}
          />
        </Begun>
      )}
    </LazyDialog>
  );
  return (
    <Menu up label="Send later" button={<Icon name="down" />} buttonClass="button button-main split-more">
      <MenuItem opens={later}>Send later…</MenuItem>
      <MenuItem opens={choices}>Send with choices…</MenuItem>
      <MenuItem opens={<LazyDialog>{({ UndoDialog }) => <UndoDialog />}</LazyDialog>}>Time to undo…</MenuItem>
    </Menu>
  );
}
