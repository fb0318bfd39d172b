import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useId, useLayoutEffect, useMemo } from "preact/hooks";
import { fillReply } from "../../../model/reply.ts";
import { number } from "../format.ts";
import { takeKeys } from "../held-keys.ts";
import { useAll, usePlace } from "../organization.ts";
import { Icon } from "../parts/icon.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { closeDialog, openDialog } from "../parts/opened-dialog.tsx";
import { type Reply, replyFinder } from "../replies/found-replies.ts";
import { replyValues } from "../replies/reply-values.ts";
import { useReplies } from "../replies/use-replies.ts";
import { currentSession, may } from "../session.ts";
import type { ConversationStore } from "./conversation-store.ts";
import type { Sending } from "./sending.ts";

const MAX_SHOWN = 50;
/** In place of a reply's id. */
const TEMPLATES = "templates";

interface ReplyPickerProps {
  store: ConversationStore;
  sending: Sending;
  /** The dialog of the templates. */
  templates: JSX.Element;
  /** Gets the text of the chosen reply, filled in. The dialog is being closed. */
  onPut: (text: string) => void;
}

/** Finds a saved reply and fills it in. */
export function ReplyPicker({ store, sending, templates, onPut }: ReplyPickerProps) {
  const { to } = usePlace();
  const id = useId();
  // It begins with what was typed before it was drawn.
  const words = useSignal(useMemo(takeKeys, []) ?? "");
  /** By its id: the list may change while it is read. */
  const at = useSignal<string | null>(null);
  const { member: self } = currentSession();
  const { data: members = [] } = useAll(self ? null : "members");
  const replies = useReplies();
  const find = useMemo(() => replyFinder(replies.data ?? []), [replies.data]);
  const found = find(words.value);
  const shown = found.slice(0, MAX_SHOWN);
  // While nothing is known yet, Enter must not mean the templates.
  const isWaiting = replies.data === undefined && replies.error === null;
  const ids = isWaiting ? [] : [...shown.map((reply) => reply.id), TEMPLATES];
  const current = ids.find((one) => one === at.value) ?? ids[0];
  useLayoutEffect(() => {
    document.getElementById(`${id}-${current}`)?.scrollIntoView({ block: "nearest" });
  }, [current]);

  const chat = store.chat.value;
  const writer = self ?? members.find((member) => member.id === sending.senderId) ?? null;
  const values = chat ? replyValues(chat, writer) : {};
  const filled = ({ content }: Reply) => fillReply(content, values);
  const choose = (chosen: string | undefined) => {
    const reply = shown.find((one) => one.id === chosen);
    if (chosen === TEMPLATES) openDialog(templates);
    if (!reply) return;
    closeDialog();
    onPut(filled(reply));
  };
  const sayOf = (count: number) => {
    if (count === 0)
      return <>There is no saved reply yet. {may("replies:write") && <a href={to("replies/new")}>Write one</a>}</>;
    if (found.length === 0) return "No saved reply has these words.";
    return found.length > MAX_SHOWN && `${MAX_SHOWN} of ${number(found.length)} are shown. Type to find the others.`;
  };
  const option = (of: string, children: JSX.Element) => (
    <div
      key={of}
      id={`${id}-${of}`}
      class="item"
      role="option"
      tabIndex={-1}
      aria-selected={of === current}
      onClick={() => choose(of)}
      onKeyDown={(event) => event.key === "Enter" && choose(of)}
    >
      {children}
    </div>
  );

  return (
    <>
      <input
        role="combobox"
        aria-label="Find a saved reply"
        aria-expanded={ids.length > 0}
        aria-controls={id}
        aria-activedescendant={current && `${id}-${current}`}
        placeholder="Shortcut, name or words"
        autocomplete="off"
        value={words.value}
        onInput={(event) => {
          words.value = event.currentTarget.value;
          at.value = null;
        }}
        onKeyDown={(event) => {
          if (event.isComposing) return;
          const place = ids.indexOf(current ?? "");
          if (event.key === "ArrowDown") at.value = ids[(place + 1) % ids.length] ?? null;
          else if (event.key === "ArrowUp") at.value = ids.at(place - 1) ?? null;
          else if (event.key === "Enter") choose(current);
          else return;
          event.preventDefault();
        }}
      />
      <Loaded resource={replies} rows={3}>
        {(all) => {
          const said = sayOf(all.length);
          return (
            said && (
              <p class="quiet note" role="status">
                {said}
              </p>
            )
          );
        }}
      </Loaded>
      <div role="listbox" id={id} class="found" aria-label="Saved replies">
        {shown.map((reply) =>
          option(
            reply.id,
            <div class="grow">
              <div class="between">
                <strong class="clip" dir="auto">
                  {reply.name}
                </strong>
                {reply.shortcut !== null && (
                  <kbd class="clip">
                    <bdi>{reply.shortcut}</bdi>
                  </kbd>
                )}
              </div>
              <div class="quiet clip" dir="auto">
                {filled(reply)}
              </div>
            </div>,
          ),
        )}
        {!isWaiting &&
          option(
            TEMPLATES,
            <>
              <Icon name="template" /> Templates…
            </>,
          )}
      </div>
    </>
  );
}
