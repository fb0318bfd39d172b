import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { fillReply, MAX_REPLY_NAME, MAX_SHORTCUT, placeholderFault, replyKeys } from "../../../model/reply.ts";
import { ParleyError } from "../api.ts";
import { number } from "../format.ts";
import { route } from "../location.ts";
import { usePlace } from "../organization.ts";
import { MainButton, TextButton, WarnButton } from "../parts/button.tsx";
import { TextArea } from "../parts/controls.tsx";
import { Copyable } from "../parts/copy.tsx";
import { Confirm } from "../parts/dialog.tsx";
import { sentence } from "../parts/faults.ts";
import { Input } from "../parts/field.tsx";
import { Form } from "../parts/form.tsx";
import { Icon } from "../parts/icon.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Screen } from "../parts/screen.tsx";
import { Empty } from "../parts/states.tsx";
import { TemplateValues } from "../parts/template-values.tsx";
import { Time } from "../parts/time.tsx";
import { say } from "../parts/toast.tsx";
import type { Resource } from "../resource.ts";
import { currentSession, may } from "../session.ts";
import type { Reply } from "./found-replies.ts";
import { fieldsOf, NO_FIELDS, type ReplyFields, useReplyDraft } from "./reply-draft.ts";
import { useReplies } from "./use-replies.ts";

/** In place of an id: a reply that does not exist yet. */
export const NEW_REPLY = "new";

/** As the service. */
const MAX_LENGTH = 4_096;

export function ReplyScreen({ id }: { id: string }) {
  const { api, to } = usePlace();
  const replies = useReplies();
  const found = replies.data?.find((one) => one.id === id);
  // What is being written stays if somebody else deletes the reply.
  const last = useRef<Reply | null>(null);
  last.current = found ?? last.current;
  const remove = (
    <Confirm
      title={`Delete “${found?.name}”?`}
      submit="Delete"
      done="Deleted"
      onSubmit={async () => {
        await api.DELETE("/replies/{id}", { path: { id } });
        replies.set((replies.data ?? []).filter((one) => one.id !== id));
        route(to("replies"));
      }}
    >
      <p>Messages that were sent stay as they are.</p>
    </Confirm>
  );
  return (
    <Screen
      title={id === NEW_REPLY ? "New reply" : (last.current?.name ?? "Reply")}
      back={{ href: to("replies"), label: "Replies" }}
      actions={found && may("replies:write") && <WarnButton opens={remove}>Delete</WarnButton>}
    >
      {id === NEW_REPLY || last.current ? (
        <Editor
          reply={last.current}
          isGone={id !== NEW_REPLY && replies.data !== undefined && !found}
          replies={replies}
        />
      ) : (
        <Loaded resource={replies}>
          {() =>
            !replies.isLoading && (
              <Empty
                icon="reply"
                title="There is no such reply"
                action={<MainButton href={to("replies")}>Show all replies</MainButton>}
              >
                It may have been deleted.
              </Empty>
            )
          }
        </Loaded>
      )}
    </Screen>
  );
}

interface EditorProps {
  /** Null: a new one. */
  reply: Reply | null;
  /** Somebody else deleted it. It can be created again. */
  isGone: boolean;
  replies: Resource<Reply[]>;
}

function Editor({ reply, isGone, replies }: EditorProps) {
  const { organization, api, to } = usePlace();
  const stored = reply ? fieldsOf(reply) : NO_FIELDS;
  const draft = useReplyDraft(reply?.id ?? `new ${organization.id}`, stored);
  const theirs = useSignal<ReplyFields | null>(null);
  const { name, shortcut, content } = draft.shown;
  const fault = placeholderFault(content);
  const canWrite = may("replies:write");
  const creates = reply === null || isGone;
  const grid = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (reply === null && canWrite) grid.current?.querySelector("input")?.focus();
  }, []);
  const put = (saved: Reply) => {
    if (replies.data) replies.set([...replies.data.filter(({ id }) => id !== saved.id), saved]);
  };
  const save = async () => {
    theirs.value = null;
    if (creates) {
      const body = { name, content, ...(shortcut && { shortcut }) };
      put((await api.POST("/replies", { body }).catch(atShortcut)).reply);
    } else {
      const newest = (await replies.refresh()).find(({ id }) => id === reply.id);
      // The screen says so.
      if (!newest) return;
      if (draft.takesBack(fieldsOf(newest))) {
        theirs.value = fieldsOf(newest);
        return;
      }
      const { shortcut: changed, ...others } = draft.changed;
      const body = { ...others, ...(changed !== undefined && { shortcut: changed || null }) };
      put((await api.PATCH("/replies/{id}", { path: { id: reply.id }, body }).catch(atShortcut)).reply);
    }
    draft.discard();
    route(to("replies"));
    say("Saved");
  };
  return (
    <div class="grid" ref={grid}>
      <Form
        submit={creates ? "Create" : "Save"}
        isDisabled={!canWrite || fault !== null || (!creates && !draft.hasChanges)}
        onSubmit={save}
      >
        {isGone && (
          <p class="notice tone-warn" role="alert">
            <Icon name="warning" />
            <span>Somebody deleted this reply. You can create it again.</span>
          </p>
        )}
        {theirs.value && (
          <div class="notice tone-warn" role="alert">
            <Icon name="warning" />
            <div>
              <p>Somebody changed this reply meanwhile. Save again to replace what they wrote:</p>
              <p>
                <bdi>{theirs.value.name}</bdi> {theirs.value.shortcut && <kbd>{theirs.value.shortcut}</kbd>}
              </p>
              <p class="text" dir="auto">
                {theirs.value.content}
              </p>
            </div>
          </div>
        )}
        <div class="pair-even">
          <Input
            label="Name"
            name="name"
            required
            dir="auto"
            maxLength={MAX_REPLY_NAME}
            readOnly={!canWrite}
            value={name}
            onInput={(event) => draft.set({ name: event.currentTarget.value })}
          />
          <Input
            label="Shortcut"
            hint="Optional. Letters, digits, - and _. Typed after /, it finds the reply first."
            name="shortcut"
            dir="auto"
            maxLength={MAX_SHORTCUT}
            spellcheck={false}
            readOnly={!canWrite}
            value={shortcut}
            onInput={(event) => draft.set({ shortcut: event.currentTarget.value })}
          />
        </div>
        <TextArea
          label="Text"
          path="content"
          hint={
            <>
              Filled in: <code>{"{{contact.name}}"}</code>, <code>{"{{member.name}}"}</code> and, from the chat’s
              metadata, <code>{"{{metadata.order|words if there is none}}"}</code>. {number(content.length)} of{" "}
              {number(MAX_LENGTH)} characters.
            </>
          }
          required
          rows={8}
          dir="auto"
          maxLength={MAX_LENGTH}
          {...(fault !== null && { "aria-invalid": true })}
          readOnly={!canWrite}
          value={content}
          onInput={(event) => draft.set({ content: event.currentTarget.value })}
        />
        <div role="status">{fault !== null && <p class="refusal tone-bad">{sentence(`the text ${fault}`)}</p>}</div>
        {canWrite && draft.hasChanges && (
          <p class="hint">
            Not saved. This tab keeps the text. <TextButton onClick={draft.discard}>Discard</TextButton>
          </p>
        )}
      </Form>
      <Preview content={content} reply={reply} />
    </div>
  );
}

/** What the reply is for an example of a contact. The composer fills it in the same way. */
function Preview({ content, reply }: { content: string; reply: Reply | null }) {
  const { member } = currentSession();
  const tried = useSignal<Record<string, string>>({
    "contact.name": "Ana Ruiz",
    "member.name": member ? (member.publicName ?? member.name) : "Ann",
  });
  return (
    <section class="section" aria-label="Preview">
      <h2>Preview</h2>
      <div class="preview">
        <p class="text" dir="auto">
          {fillReply(content, tried.value) || "…"}
        </p>
      </div>
      <TemplateValues
        names={replyKeys(content)}
        values={tried.value}
        onValues={(next) => (tried.value = next)}
        placeholder="No value"
      />
      {reply && (
        <p class="hint">
          <Copyable text={reply.id} /> Changed <Time at={reply.updatedAt} long />
        </p>
      )}
    </section>
  );
}

/** A shortcut that another reply has is a fault of its field. @throws ParleyError */
function atShortcut(error: unknown): never {
  if (!(error instanceof ParleyError) || error.code !== "reply_exists") throw error;
  const { status, code, requestId } = error;
  const errors = [{ path: "shortcut", message: "another reply has this shortcut" }];
  throw new ParleyError(error.message, { status, code, requestId, errors });
}
