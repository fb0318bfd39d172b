import { DESCRIPTIONS } from "../../../model/channel-kind.ts";
import { placeholdersOf } from "../../../model/placeholder.ts";
import type { Chat, Template } from "../api.ts";
import { Input } from "../parts/field.tsx";
import { TemplateValues } from "../parts/template-values.tsx";
import type { Draft } from "./drafts.ts";
import { PreviewMessage } from "./preview-message.tsx";

export type Parts = NonNullable<Draft["template"]>;
type Header = NonNullable<Parts["header"]>;

interface PartsProps {
  template: Template;
  parts: Parts;
  onParts: (parts: Parts) => void;
  /** A file for the header, which is uploaded when the message is sent. */
  file: File | null;
  onFile: (file: File | null) => void;
}

const MEDIA = { IMAGE: "image", VIDEO: "video", DOCUMENT: "document" } as const;

/** What a template's header and buttons need besides the body. */
export function TemplatePartFields({ template, parts, onParts, file, onFile }: PartsProps) {
  const header = template.components?.find((part) => part.type === "HEADER");
  const given = parts.header ?? {};
  const setHeader = (change: Header) => onParts({ ...parts, header: { ...given, ...change } });
  const setButton = (index: number, change: object) => {
    const others = (parts.buttons ?? []).filter((one) => one.index !== index);
    onParts({ ...parts, buttons: [...others, { index, ...change }] });
  };
  const setPlace = (change: object) =>
    setHeader({ location: { latitude: Number.NaN, longitude: Number.NaN, ...given.location, ...change } });
  const degrees = (key: "latitude" | "longitude", label: string, most: number) => (
    <Input
      label={label}
      path={`template.header.location.${key}`}
      type="number"
      step="any"
      min={-most}
      max={most}
      required
      onInput={(event) => setPlace({ [key]: event.currentTarget.valueAsNumber })}
    />
  );
  const kind = header && header.format in MEDIA ? MEDIA[header.format as keyof typeof MEDIA] : null;
  return (
    <>
      {header?.format === "TEXT" && (
        <TemplateValues
          names={placeholdersOf(header.text ?? "") ?? []}
          values={textsOf(given.variables)}
          onValues={(variables) => setHeader({ variables })}
          required
        />
      )}
      {kind !== null && (
        <>
          <Input
            label={`File of the header (${kind})`}
            path="template.header"
            type="file"
            onChange={({ currentTarget }) => onFile(currentTarget.files?.[0] ?? null)}
          />
          {file === null && (
            <Input
              label={`Or the address of the ${kind}`}
              path="template.header.mediaUrl"
              type="url"
              placeholder="https://"
              onInput={({ currentTarget }) => setHeader({ mediaUrl: currentTarget.value })}
            />
          )}
        </>
      )}
      {header?.format === "LOCATION" && (
        <>
          {degrees("latitude", "Latitude", 90)}
          {degrees("longitude", "Longitude", 180)}
          {(["name", "address"] as const).map((key) => (
            <Input
              key={key}
              label={key === "name" ? "Name of the place" : "Address of the place"}
              path={`template.header.location.${key}`}
              required
              onInput={(event) => setPlace({ [key]: event.currentTarget.value })}
            />
          ))}
        </>
      )}
      {buttonsOf(template).map(({ type, text, url }, index) => {
        const key = type === "COPY_CODE" ? "code" : url?.endsWith("}}") ? "urlSuffix" : null;
        if (key === null) return null;
        return (
          <Input
            key={text}
            label={key === "code" ? `Code of “${text}”` : `End of the address of “${text}”`}
            hint={key === "code" ? undefined : url}
            path="template.buttons"
            required
            onInput={(event) => setButton(index, { [key]: event.currentTarget.value })}
          />
        );
      })}
    </>
  );
}

interface PreviewProps {
  template: Template;
  /** The filled body. */
  text: string;
  parts: Parts;
  file: File | null;
  kind: Chat["channel"]["kind"];
}

/** The message as its channel renders it: where buttons are not known, they are lines of text. */
export function TemplatePreview({ template, text, parts, file, kind }: PreviewProps) {
  const header = template.components?.find((part) => part.type === "HEADER");
  const footer = template.components?.find((part) => part.type === "FOOTER");
  const heading = header?.format === "TEXT" ? filled(header.text ?? "", textsOf(parts.header?.variables)) : "";
  const isOwn = DESCRIPTIONS[kind].hasTemplates === true;
  const buttons = buttonsOf(template).map((button, index) => {
    const suffix = parts.buttons?.find((one) => one.index === index)?.urlSuffix ?? "";
    const url = button.url?.replace(/\{\{.*\}\}$/, suffix) ?? null;
    return { ...button, url, address: url ?? button.phoneNumber ?? "" };
  });
  const isChoice = ({ type }: { type: string }) => isOwn || type === "QUICK_REPLY";
  const lines = buttons.filter((button) => !isChoice(button)).map(({ text: title, address }) => `${title}: ${address}`);
  const choices = buttons
    .filter(isChoice)
    .map(({ text: title, url }) => ({ title, url, description: "", section: "", id: url === null ? title : null }));
  const { location } = parts.header ?? {};
  const details = location ? [location.name, location.address].map((line) => ({ text: line ?? "", href: null })) : [];
  const body = isOwn ? [text] : [heading, text, footer?.text, ...lines];
  const name = file?.name ?? parts.header?.mediaUrl;
  return (
    <PreviewMessage
      message={{
        type: "TEMPLATE",
        text: body.filter(Boolean).join("\n\n"),
        mediaUrl: null,
        details,
        interactive: { header: isOwn ? heading : "", footer: (isOwn && footer?.text) || "", choices },
      }}
      media={
        name
          ? {
              href: null,
              kind: "other",
              file: { name, kind: "other", size: file?.size ?? null, width: null, height: null },
            }
          : null
      }
    />
  );
}

function buttonsOf({ components }: Template) {
  return components?.flatMap((part) => (part.type === "BUTTONS" ? part.buttons : [])) ?? [];
}

function textsOf(variables: Header["variables"]): Record<string, string> {
  return Object.fromEntries(Object.entries(variables ?? {}).map(([name, value]) => [name, String(value)]));
}

/** A text with the values that are there. The others stay as placeholders. */
function filled(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{\{\s*(\w+)\s*\}\}/g, (whole, name: string) => values[name] || whole);
}
