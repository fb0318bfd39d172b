import { useSignal } from "@preact/signals";
import { DESCRIPTIONS, NETWORK_RENDERINGS } from "../../../model/channel-kind.ts";
import { choiceLine } from "../../../model/choices-text.ts";
import { readExtras } from "../../shared/message/extras.ts";
import type { Chat } from "../api.ts";
import { TextArea } from "../parts/controls.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Form } from "../parts/form.tsx";
import { closeDialog, leavesOpen } from "../parts/opened-dialog.tsx";
import type { Draft } from "./drafts.ts";
import { PreviewMessage } from "./preview-message.tsx";

/** A title and the address of a page. */
const LINK = /^(.+?)\s+(https?:\/\/\S+)$/;

interface ChoicesDialogProps {
  chat: Chat;
  text: string;
  /** The text was changed. The composer keeps it, so that a dialog that is closed loses nothing. */
  onText: (text: string) => void;
  onSend: (draft: Draft) => Promise<void>;
}

/** Sends the text with choices: replies that the contact taps, or links. */
export function ChoicesDialog({ chat, text, onText, onSend }: ChoicesDialogProps) {
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
  const { kind } = chat.channel;
  const message = { address: chat.contact.address, hasMedia: false };
  const rendering = kind === "web" || choices.length === 0 ? null : NETWORK_RENDERINGS[kind]({ choices }, message);
  const isText = rendering === "text";
  const shown = isText ? [content.value, ...choices.map(choiceLine)].join("\n") : content.value;
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
        <TextArea
          label="Text"
          path="content"
          rows={2}
          value={content.value}
          onInput={({ currentTarget: { value } }) => {
            content.value = value;
            onText(value);
          }}
        />
        <TextArea
          label="Choices"
          path="interactive"
          hint="One choice per line, up to 10, at most 24 characters each. End a line with a web address to make it a link."
          rows={4}
          value={lines.value}
          onInput={(event) => (lines.value = event.currentTarget.value)}
        />
        <section class="box" aria-label="Preview">
          <PreviewMessage
            message={{
              type: "TEXT",
              text: shown || " ",
              mediaUrl: null,
              ...(!isText && readExtras({ interactive: { choices } })),
            }}
          />
          {/* Every other rendering is buttons, as in the preview. */}
          {(isText || rendering === "list") && (
            <p class="quiet small">
              {DESCRIPTIONS[kind].label} shows these as{" "}
              {isText ? "lines of the text." : "a list, which one button opens."}
            </p>
          )}
        </section>
      </Form>
    </Dialog>
  );
}
