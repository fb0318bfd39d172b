import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { fillTemplate } from "../../../model/placeholder.ts";
import { repeatUpload, type UploadFile } from "../../shared/files/repeat-upload.ts";
import { type Chat, ParleyError, type Template } from "../api.ts";
import { MOST, useGet, usePlace } from "../organization.ts";
import { Button, MainButton } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Form } from "../parts/form.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { closeDialog, leavesOpen } from "../parts/opened-dialog.tsx";
import { Empty } from "../parts/states.tsx";
import { TemplateValues } from "../parts/template-values.tsx";
import type { Draft } from "./drafts.ts";
import { type Parts, TemplatePartFields, TemplatePreview } from "./template-parts.tsx";

const MAX_LENGTH = 4_096;

interface DialogProps {
  chat: Chat;
  upload: UploadFile;
  onSend: (draft: Draft) => Promise<void>;
}

/** Chooses a template, fills it, and shows what the contact will read. */
export function TemplateDialog({ chat, upload, onSend }: DialogProps) {
  const { to } = usePlace();
  const search = useSignal("");
  const chosen = useSignal<Template | null>(null);
  const templates = useGet("/templates", { query: { limit: MOST } });
  return (
    <Dialog title={chosen.value ? chosen.value.name : "Templates"} wide>
      {chosen.value ? (
        <Filling
          template={chosen.value}
          chat={chat}
          upload={upload}
          onBack={() => (chosen.value = null)}
          onSend={onSend}
        />
      ) : (
        <Loaded resource={templates}>
          {({ templates: every }) => {
            const all = every.filter(({ network }) => !network || network.status === "APPROVED");
            const wanted = search.value.trim().toLowerCase();
            const found = all.filter(({ name, body }) => `${name} ${body}`.toLowerCase().includes(wanted));
            return all.length === 0 ? (
              <Empty
                icon="template"
                title="No template yet"
                action={<MainButton href={to("templates")}>Write one</MainButton>}
              >
                A template is a text with placeholders, such as {"{{name}}"}.
              </Empty>
            ) : (
              <>
                <input
                  aria-label="Find a template"
                  placeholder="Find a template"
                  value={search.value}
                  onInput={(event) => (search.value = event.currentTarget.value)}
                  onKeyDown={(event) => {
                    if (event.key !== "Enter") return;
                    event.preventDefault();
                    chosen.value = found[0] ?? null;
                  }}
                />
                <ul class="stack">
                  {found.map((template) => (
                    <li key={template.id}>
                      <Button class="choice" onClick={() => (chosen.value = template)}>
                        <strong>
                          <bdi>{template.name}</bdi> <span class="quiet">{template.language}</span>
                        </strong>
                        <span class="quiet clip" dir="auto">
                          {template.body}
                        </span>
                      </Button>
                    </li>
                  ))}
                </ul>
              </>
            );
          }}
        </Loaded>
      )}
    </Dialog>
  );
}

interface FillingProps extends DialogProps {
  template: Template;
  onBack: () => void;
}

/** The first word of the contact's name is the usual value of `name`. */
function Filling({ template, chat, upload, onBack, onSend }: FillingProps) {
  const first = chat.contact.name?.split(/\s/u)[0] ?? "";
  const values = useSignal<Record<string, string>>(
    Object.fromEntries(template.variables.map((name) => [name, chat.metadata[name] ?? (name === "name" ? first : "")])),
  );
  const parts = useSignal<Parts>({});
  const file = useSignal<File | null>(null);
  const ended = useMemo(() => new AbortController(), []);
  // A dialog that is closed sends nothing.
  useEffect(() => () => ended.abort(), []);
  const uploadKey = useMemo(() => crypto.randomUUID(), [file.value]);
  const filled = fillTemplate(template.body, values.value, MAX_LENGTH);
  return (
    <Form
      submit="Send"
      onCancel={onBack}
      isDisabled={!("text" in filled)}
      onSubmit={async () => {
        const content = "text" in filled ? filled.text : template.body;
        const draft: Draft = { content, type: "TEMPLATE", templateId: template.id, variables: values.value };
        const send = async () => {
          const call = { file: file.value, key: uploadKey, signal: ended.signal };
          const given = await withFile(parts.value, call, upload);
          await onSend({ ...draft, ...(Object.keys(given).length > 0 && { template: given }) });
        };
        if (await leavesOpen(send)) closeDialog();
      }}
    >
      <TemplateValues
        names={template.variables}
        values={values.value}
        onValues={(next) => (values.value = next)}
        required
      />
      <TemplatePartFields
        template={template}
        parts={parts.value}
        onParts={(next) => (parts.value = next)}
        file={file.value}
        onFile={(next) => (file.value = next)}
      />
      <section class="box" aria-label="Preview">
        {"tooLong" in filled ? (
          <p>The filled text is too long.</p>
        ) : (
          <TemplatePreview
            template={template}
            text={"text" in filled ? filled.text : template.body}
            parts={parts.value}
            file={file.value}
            kind={chat.channel.kind}
          />
        )}
      </section>
    </Form>
  );
}

/** The values with the header's file, if there is one. It is uploaded first. @throws ParleyError */
async function withFile(
  parts: Parts,
  { file, key, signal }: { file: File | null; key: string; signal: AbortSignal },
  upload: UploadFile,
): Promise<Parts> {
  if (file === null) return parts;
  const answer = await repeatUpload(upload, { file, key, signal, onProgress: () => {} }, () => navigator.onLine);
  if (answer?.outcome === "stored") return { ...parts, header: { mediaId: answer.mediaId } };
  const { code, message } = answer?.outcome === "refused" ? answer.trouble : { code: "unreachable", message: "" };
  throw new ParleyError(message, { status: null, code });
}
