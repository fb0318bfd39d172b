import * as z from "zod/mini";
import type { TemplateInList } from "../../model/network.ts";
import { placeholdersOf } from "../../model/placeholder.ts";
import { BUTTON_TYPES, HEADER_FORMATS, type TemplateButton, type TemplateComponent } from "../../model/template.ts";
import { lenient, textField } from "../network/lenient.ts";

const MAX_BODY = 4_096;
const MAX_TEXT = 1_024;
const MAX_LABEL = 200;
const MAX_URL = 2_000;
const MAX_BUTTONS = 10;
const MAX_COMPONENTS = 20;
/** The maximum size of all components as JSON, in UTF-16 units. Meta's own limits allow 6,000. */
const MAX_SIZE = 8_192;

const words = lenient(z.string().check(z.regex(/^[A-Z_]{1,40}$/)));
const templateId = z.union([z.string(), z.number()]);
const key = z.object({
  name: z.string().check(z.regex(/^[a-z0-9_]{1,512}$/)),
  language: z.string().check(z.regex(/^[A-Za-z_-]{2,32}$/)),
});
const listed = z.object({
  id: templateId,
  status: z.string().check(z.regex(/^[A-Z_]{1,40}$/)),
  category: words,
  parameter_format: words,
  components: z.array(z.unknown()).check(z.maxLength(MAX_COMPONENTS)),
  quality_score: lenient(z.object({ score: words })),
  rejected_reason: words,
});
const component = z.object({
  type: z.string().check(z.maxLength(40)),
  format: words,
  text: textField,
  code_expiration_minutes: lenient(z.int()),
  buttons: lenient(z.array(z.unknown()).check(z.maxLength(MAX_BUTTONS))),
});
const button = z.object({
  type: z.string(),
  text: textField,
  url: lenient(z.string().check(z.maxLength(MAX_URL))),
  phone_number: lenient(z.string().check(z.maxLength(32))),
});

/** A template in a list; see `TemplatePage`. */
export function listedTemplate(value: unknown): TemplateInList {
  const identified = key.safeParse(value).data;
  if (!identified) return null;
  const found = listed.safeParse(value).data;
  const components = found && componentsOf(found.components);
  const body = components?.find(({ type }) => type === "BODY");
  if (!components || body?.type !== "BODY") return { key: identified, template: null };
  const { id, status, category = null, quality_score, rejected_reason } = found;
  const quality = quality_score?.score ?? null;
  const rejectedReason = rejectionOf(rejected_reason);
  return {
    key: identified,
    template: {
      ...identified,
      body: body.text,
      parameterFormat: found.parameter_format === "NAMED" ? "NAMED" : "POSITIONAL",
      components,
      state: { id: String(id).slice(0, 64), status, category, quality, rejectedReason },
    },
  };
}

/** Meta's reason; null for none. */
function rejectionOf(reason: string | null | undefined): string | null {
  return reason === "NONE" ? null : (reason ?? null);
}

/** Null if a part can't be read, or there is no text. */
function componentsOf(values: readonly unknown[]): TemplateComponent[] | null {
  const components = values.map(componentOf);
  if (components.some((each) => each === null)) return null;
  const known = components as TemplateComponent[];
  const isComplete = known.filter(({ type }) => type === "BODY").length === 1;
  return isComplete && JSON.stringify(known).length <= MAX_SIZE ? known : null;
}

function componentOf(value: unknown): TemplateComponent | null {
  const found = component.safeParse(value).data;
  if (!found) return null;
  const { type, text } = found;
  switch (type.toUpperCase()) {
    case "HEADER":
      return headerOf(found);
    case "BODY":
      return isText(text, MAX_BODY) ? { type: "BODY", text } : null;
    case "FOOTER": {
      const minutes = found.code_expiration_minutes;
      const footer = text ?? (minutes === undefined ? "" : `This code expires in ${minutes} minutes.`);
      return footer.length <= MAX_TEXT ? { type: "FOOTER", text: footer.toWellFormed() } : null;
    }
    case "BUTTONS": {
      const buttons = found.buttons?.map(buttonOf);
      return buttons?.every((each) => each !== null) ? { type: "BUTTONS", buttons } : null;
    }
    default:
      return { type: "OTHER", name: type.toUpperCase().replace(/[^A-Z_]/g, "") };
  }
}

function headerOf({ format, text }: z.output<typeof component>): TemplateComponent | null {
  const known = HEADER_FORMATS.find((each) => each === format) ?? "OTHER";
  if (known !== "TEXT") return { type: "HEADER", format: known };
  return isText(text, MAX_TEXT) ? { type: "HEADER", format: known, text } : null;
}

function buttonOf(value: unknown): TemplateButton | null {
  const found = button.safeParse(value).data;
  if (!found) return null;
  const { url, phone_number: phoneNumber } = found;
  // WhatsApp shows a title of its own for some types, and may list them without one.
  const text = found.text || found.type.toLowerCase().replaceAll("_", " ");
  const type = BUTTON_TYPES.find((each) => each === found.type) ?? "OTHER";
  // Meta lists the button of an authentication template as an address of its own.
  if (type === "URL" && url !== undefined && /[?&]otp_type=/.test(url)) return { type: "OTP", text };
  const isWhole = type === "URL" ? url !== undefined : type !== "PHONE_NUMBER" || phoneNumber !== undefined;
  if (!isWhole || text.length > MAX_LABEL || !text.isWellFormed()) return null;
  return { type, text, ...(type === "URL" && { url }), ...(type === "PHONE_NUMBER" && { phoneNumber }) };
}

/** Whether it is a text whose placeholders can be filled. */
function isText(text: string | undefined, max: number): text is string {
  if (text === undefined || text.trim() === "" || text.length > max || !text.isWellFormed()) return false;
  return placeholdersOf(text) !== null;
}
