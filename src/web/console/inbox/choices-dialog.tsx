import { useSignal } from "@preact/signals";
import { MessageContent } from "../../shared/message/content.tsx";
import { readExtras } from "../../shared/message/extras.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Field } from "../parts/field.tsx";
import { Form } from "../parts/form.tsx";
import { closeDialog, leavesOpen } from "../parts/opened-dialog.tsx";
import { TEXTS } from "./bubble.tsx";
import type { Draft } from "./conversation-store.ts";

/** A title and the address of a page. */
const LINK = /^(.+?)\s+(https?:\/\/\S+)$/;

/** Sends the text with choices: replies that the contact taps, or links. */
export function ChoicesDialog({ text, onSend }: { text: string; onSend: (draft: Draft) => Promise<void> }) {
  const content = useSignal(text);
  const lines = useSignal("");
  const choices = lines.value
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .map((line) => {
      const [, title, url] = LINK.exec(line) ?? [];
      return title && url ? { type: "link" as const, title, url } : { type: "reply" as const, id: line, title: line };
    });
  return (
    <Dialog title="Send with choices" wide>
      <Form
        submit="Send"
        isDisabled={content.value.trim() === "" || choices.length === 0}
        onSubmit={async () => {
          const draft: Draft = { content: content.value.trim(), type: "TEXT", interactive: { choices } };
          if (await leavesOpen(() => onSend(draft))) closeDialog();
        }}
      >
        <Field label="Text" path="content">
          {(ties) => (
            <textarea
              {...ties}
              rows={2}
              value={content.value}
              onInput={(event) => (content.value = event.currentTarget.value)}
            />
          )}
        </Field>
        <Field
          label="Choices"
          path="interactive"
          hint="One a line, up to ten, with at most 24 characters each. A line that ends with an address is a link."
        >
          {(ties) => (
            <textarea
              {...ties}
              rows={4}
              value={lines.value}
              onInput={(event) => (lines.value = event.currentTarget.value)}
            />
          )}
        </Field>
        <section class="preview" aria-label="Preview">
          <div class="message own">
            <MessageContent
              message={{
                type: "TEXT",
                text: content.value || " ",
                mediaUrl: null,
                ...readExtras({ interactive: { choices } }),
              }}
              media={null}
              writer="Preview"
              quoted={undefined}
              tapped={null}
              onTap={null}
              reactors={{ contact: "", organization: "" }}
              texts={TEXTS}
            />
          </div>
        </section>
      </Form>
    </Dialog>
  );
}
