import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { fillTemplate, placeholdersOf } from "../../../model/placeholder.ts";
import type { Template } from "../api.ts";
import { number } from "../format.ts";
import { drafts } from "../in-tab.ts";
import { route } from "../location.ts";
import { useGet, usePlace } from "../organization.ts";
import { TextButton, WarnButton } from "../parts/button.tsx";
import { Copyable } from "../parts/copy.tsx";
import { Confirm } from "../parts/dialog.tsx";
import { Field, Input } from "../parts/field.tsx";
import { Form } from "../parts/form.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Screen } from "../parts/screen.tsx";
import { TemplateValues } from "../parts/template-values.tsx";
import { Time } from "../parts/time.tsx";
import { forget } from "../resource.ts";
import { may } from "../session.ts";
import { faultIn } from "./fault-in.ts";

/** In place of an id: a template that does not exist yet. */
export const NEW = "new";

const MAX_LENGTH = 4_096;

export function TemplateScreen({ id }: { id: string }) {
  const { api, to } = usePlace();
  const found = useGet(id === NEW ? null : "/templates/{id}", { path: { id } });
  const template = found.data?.template;
  const remove = (name: string) => (
    <Confirm
      title={`Delete “${name}”?`}
      submit="Delete"
      done="Deleted"
      onSubmit={async () => {
        await api.DELETE("/templates/{id}", { path: { id } });
        forget("/templates");
        route(to("templates"));
      }}
    >
      <p>Programs that use it get an error.</p>
    </Confirm>
  );
  return (
    <Screen
      title={id === NEW ? "New template" : (template?.name ?? "Template")}
      back={{ href: to("templates"), label: "Templates" }}
      actions={template && may("templates:write") && <WarnButton opens={remove(template.name)}>Delete</WarnButton>}
    >
      {id === NEW ? (
        <Editor template={null} />
      ) : (
        <Loaded resource={found}>{(data) => <Editor template={data.template} />}</Loaded>
      )}
    </Screen>
  );
}

function Editor({ template }: { template: Template | null }) {
  const { organization, api, to } = usePlace();
  const stored = template?.body ?? "";
  const draftOf = template?.id ?? `a template of ${organization.id}`;
  const body = useSignal(drafts.read(draftOf) ?? stored);
  const write = (text: string) => {
    body.value = text;
    drafts.save(draftOf, text === stored ? "" : text);
  };
  const values = useSignal<Record<string, string>>({});
  const names = placeholdersOf(body.value);
  const fault = faultIn(body.value);
  // What a network approved can be changed only there.
  const canWrite = may("templates:write") && !template?.wabaId;
  return (
    <div class="grid">
      <Form
        submit={template ? "Save" : "Create"}
        isDisabled={!canWrite || names === null}
        done="Saved"
        onSubmit={async ({ text }) => {
          const fields = { name: text("name"), language: text("language"), body: body.value };
          if (template) await api.PATCH("/templates/{id}", { path: { id: template.id }, body: fields });
          else await api.POST("/templates", { body: fields });
          drafts.save(draftOf, "");
          forget("/templates");
          route(to("templates"));
        }}
      >
        <div class="pair-even">
          <Input
            label="Name"
            hint="On a network that approves templates, the name that it approved."
            name="name"
            required
            maxLength={512}
            spellcheck={false}
            readOnly={!canWrite}
            defaultValue={template?.name}
          />
          <Input
            label="Language"
            hint="Such as en_US."
            name="language"
            required
            maxLength={32}
            spellcheck={false}
            readOnly={!canWrite}
            defaultValue={template?.language ?? "en"}
          />
        </div>
        <Field
          label="Text"
          path="body"
          hint={
            <>
              Placeholders look like {"{{name}}"}: letters, digits and underscores. {number(body.value.length)} of{" "}
              {number(MAX_LENGTH)} characters.
            </>
          }
        >
          {({ id, ...ties }) => (
            <textarea
              {...ties}
              id={id}
              required
              rows={8}
              maxLength={MAX_LENGTH}
              dir="auto"
              readOnly={!canWrite}
              aria-invalid={fault !== null}
              aria-describedby={`${id}-fault`}
              value={body.value}
              onInput={(event) => write(event.currentTarget.value)}
            />
          )}
        </Field>
        <div role="status">
          {fault !== null && (
            <p class="refusal tone-bad">
              <code>{fault.text}</code> {fault.isOpen ? "is not closed. Write }} after the name." : "is not a name."}
            </p>
          )}
        </div>
        {canWrite && body.value !== stored && (
          <p class="hint">
            Not saved. This tab keeps the text. <TextButton onClick={() => write(stored)}>Discard</TextButton>
          </p>
        )}
        {template && <p class="hint">A change applies to messages sent from now on.</p>}
      </Form>
      <Preview body={body.value} names={names ?? []} values={values.value} onValues={(next) => (values.value = next)}>
        {template && (
          <p class="hint">
            <Copyable text={template.id} /> Changed <Time at={template.updatedAt} long />
          </p>
        )}
      </Preview>
    </div>
  );
}

interface PreviewProps {
  body: string;
  names: string[];
  values: Record<string, string>;
  onValues: (values: Record<string, string>) => void;
  children: JSX.Element | null;
}

/** What a contact would read, with values to try. It is filled by the service's own code. */
function Preview({ body, names, values, onValues, children }: PreviewProps) {
  const shown = Object.fromEntries(names.map((name) => [name, values[name] || `{{${name}}}`]));
  const filled = fillTemplate(body, shown, MAX_LENGTH);
  return (
    <section class="section" aria-label="Preview">
      <h2>Preview</h2>
      <div class="preview">
        <p class="text" dir="auto">
          {"text" in filled ? filled.text || "…" : "The filled text is too long."}
        </p>
      </div>
      <TemplateValues names={names} values={values} onValues={onValues} placeholder="A value to try" />
      {children}
    </section>
  );
}
