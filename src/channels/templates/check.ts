import { showsNothing } from "../../model/field.ts";
import { fillTemplate, placeholdersOf } from "../../model/placeholder.ts";
import type {
  FilledButton,
  FilledParts,
  TemplateButton,
  TemplateComponent,
  TemplateParameter,
  TemplateParts,
} from "../../model/template.ts";

/** The maximum length of a code that a button copies. */
const MAX_CODE = 15;
/** The maximum length of a button's address with its value. */
const MAX_ADDRESS = 2_000;
/** The maximum length of a header's text with its values. */
const MAX_HEADER_TEXT = 4_096;

/** A template that its network approved, or not. */
interface KnownTemplate {
  components: readonly TemplateComponent[];
  status: string;
}

type Header = Extract<TemplateComponent, { type: "HEADER" }>;
type GivenButton = NonNullable<TemplateParts["buttons"]>[number];
type ButtonValue = Exclude<keyof GivenButton, "index">;

/** What is wrong at a path of the request. */
interface Fault {
  path: string;
  message: string;
}

/** Why a template can't be sent. */
interface Refusal {
  code: "template_not_supported" | "template_not_approved";
  text: string;
}

/**
 * Puts the values of a send into the parts of a template. What does not fit the template is refused before anything is
 * stored, because the network would refuse it later.
 * @param parameters those of the body, filled in
 * @returns the filled parts, or what is wrong
 */
export function fillParts(
  template: KnownTemplate,
  { header: given = {}, buttons: givenButtons = [] }: TemplateParts,
  parameters: readonly TemplateParameter[],
): { filled: FilledParts } | { refusal: Refusal } | { faults: Fault[] } {
  const refusal = refusalOf(template);
  if (refusal) return { refusal };
  const { components } = template;
  const faults = parameters
    .filter(({ value }) => showsNothing(value))
    .map(({ name }) => ({ path: `variables.${name}`, message: "must not be blank" }));
  const header = filledHeader(components.find(isHeader), given, faults);
  const buttons = filledButtons(components, givenButtons, parameters[0], faults);
  const footer = components.find((component) => component.type === "FOOTER")?.text ?? null;
  return faults.length > 0 ? { faults } : { filled: { header, footer, buttons } };
}

function refusalOf({ components, status }: KnownTemplate): Refusal | null {
  const unsupported = components.flatMap(unsupportedIn)[0];
  if (unsupported !== undefined) {
    return { code: "template_not_supported", text: `The template has a part that can't be sent: ${unsupported}` };
  }
  if (status === "APPROVED") return null;
  return { code: "template_not_approved", text: `The network's status of the template is ${status}` };
}

function unsupportedIn(component: TemplateComponent): string[] {
  if (component.type === "OTHER") return [component.name];
  if (component.type === "HEADER" && component.format === "OTHER") return ["its header"];
  if (component.type !== "BUTTONS") return [];
  return component.buttons.filter(({ type }) => type === "OTHER").map(({ text }) => `the button ${text}`);
}

function isHeader(component: TemplateComponent): component is Header {
  return component.type === "HEADER";
}

/** Adds what is wrong to `faults`. */
function filledHeader(
  header: Header | undefined,
  given: NonNullable<TemplateParts["header"]>,
  faults: Fault[],
): FilledParts["header"] {
  const { format, text = "" } = header ?? {};
  const placeholders = placeholdersOf(text) ?? [];
  const isMedia = format === "IMAGE" || format === "VIDEO" || format === "DOCUMENT";
  const taken: string[] = [];
  if (isMedia) taken.push("mediaUrl", "mediaId");
  if (format === "DOCUMENT") taken.push("fileName");
  if (format === "LOCATION") taken.push("location");
  if (placeholders.length > 0) taken.push("variables");
  for (const [field, value] of Object.entries(given)) {
    if (value === undefined || taken.includes(field)) continue;
    faults.push({ path: `template.header.${field}`, message: `can't be given, because ${headerText(header)}` });
  }
  if (isMedia) return mediaHeader(format, given, faults);
  if (format === "LOCATION") return locationHeader(given, faults);
  if (format !== "TEXT") return null;
  const filled = fillTemplate(text, given.variables ?? {}, MAX_HEADER_TEXT);
  if ("missing" in filled) {
    faults.push(...filled.missing.map((name) => required(`template.header.variables.${name}`)));
    return null;
  }
  if ("tooLong" in filled) {
    faults.push({
      path: "template.header.variables",
      message: `fill the header to more than ${MAX_HEADER_TEXT} characters`,
    });
    return null;
  }
  for (const { name, value } of filled.parameters) {
    if (showsNothing(value)) faults.push({ path: `template.header.variables.${name}`, message: "must not be blank" });
  }
  return { type: "text", ...filled };
}

function headerText(header: Header | undefined): string {
  if (!header) return "the template has no header";
  if (header.format === "TEXT" && placeholdersOf(header.text ?? "")?.length === 0) {
    return "the template's header is a text without variables";
  }
  return `the template's header is ${header.format}`;
}

function mediaHeader(
  format: "IMAGE" | "VIDEO" | "DOCUMENT",
  { mediaUrl: link, mediaId, fileName }: NonNullable<TemplateParts["header"]>,
  faults: Fault[],
): FilledParts["header"] {
  if (link !== undefined && mediaId !== undefined) {
    faults.push({ path: "template.header.mediaUrl", message: "can't be given with mediaId" });
  } else if (link === undefined && mediaId === undefined) faults.push(required("template.header.mediaUrl"));
  return { type: "media", format, link: link ?? null, fileName: fileName ?? null };
}

/** The networks want the name and the address of a place in a header. */
function locationHeader({ location }: NonNullable<TemplateParts["header"]>, faults: Fault[]): FilledParts["header"] {
  const missing = location
    ? (["name", "address"] as const).filter((field) => location[field] === undefined).map((field) => `.${field}`)
    : [""];
  faults.push(...missing.map((field) => required(`template.header.location${field}`)));
  return location && missing.length === 0 ? { type: "location", location } : null;
}

/** @param first the first parameter of the body, which is the code of an authentication template */
function filledButtons(
  components: readonly TemplateComponent[],
  given: readonly GivenButton[],
  first: TemplateParameter | undefined,
  faults: Fault[],
): FilledButton[] {
  const buttons = components.find((component) => component.type === "BUTTONS")?.buttons ?? [];
  for (const [position, { index, ...values }] of given.entries()) {
    const path = `template.buttons.${position}`;
    const button = buttons[index];
    if (!button) {
      faults.push({ path: `${path}.index`, message: `must be less than ${buttons.length}, the number of buttons` });
    } else if (given.slice(0, position).some((other) => other.index === index)) {
      faults.push({ path: `${path}.index`, message: "must differ from the other indexes" });
    } else {
      for (const [field, value] of Object.entries(values)) {
        if (value === undefined || field === fieldOf(button)) continue;
        faults.push({ path: `${path}.${field}`, message: `can't be given, because ${buttonText(button)}` });
      }
      const { urlSuffix = "" } = values;
      if (fieldOf(button) === "urlSuffix" && addressOf(button.url ?? "", urlSuffix).length > MAX_ADDRESS) {
        const message = `makes an address of more than ${MAX_ADDRESS} characters`;
        faults.push({ path: `${path}.urlSuffix`, message });
      }
    }
  }
  return buttons.flatMap((button, index) =>
    filledButton(
      button,
      index,
      given.find((each) => each.index === index),
      first,
      faults,
    ),
  );
}

function filledButton(
  { type, text, url = "", phoneNumber = "" }: TemplateButton,
  index: number,
  given: GivenButton | undefined,
  first: TemplateParameter | undefined,
  faults: Fault[],
): FilledButton[] {
  const missing = (field: ButtonValue) => {
    faults.push({ path: "template.buttons", message: `must have ${field} for the button with the index ${index}` });
    return [];
  };
  switch (type) {
    case "QUICK_REPLY":
      return [{ type, text, id: given?.payload ?? text }];
    case "URL": {
      if (!hasSuffix(url)) return [{ type, text, url, suffix: null }];
      const suffix = given?.urlSuffix;
      if (suffix === undefined) return missing("urlSuffix");
      return [{ type, text, url: addressOf(url, suffix), suffix }];
    }
    case "COPY_CODE":
      return given?.code === undefined ? missing("code") : [{ type, text, code: given.code }];
    case "OTP": {
      const code = first?.value ?? "";
      if (code.length <= MAX_CODE && first) return [{ type, text, code }];
      faults.push({
        path: `variables.${first?.name ?? "1"}`,
        message: `must be a code of 1 to ${MAX_CODE} characters`,
      });
      return [];
    }
    case "PHONE_NUMBER":
      return [{ type, text, phoneNumber }];
    case "VOICE_CALL":
      return [{ type, text }];
    case "OTHER":
      return [];
  }
}

/** The field that a button takes; null if it takes none. */
function fieldOf({ type, url = "" }: TemplateButton): ButtonValue | null {
  if (type === "QUICK_REPLY") return "payload";
  if (type === "COPY_CODE") return "code";
  return type === "URL" && hasSuffix(url) ? "urlSuffix" : null;
}

function buttonText(button: TemplateButton): string {
  if (button.type === "OTP") return "the service fills in the code of this button";
  const field = fieldOf(button);
  return field === null ? "this button takes no value" : `this button takes ${field}`;
}

/** The address of a button whose own one ends with a variable. */
function addressOf(url: string, suffix: string): string {
  return url.slice(0, url.indexOf("{{")) + suffix;
}

/** Whether an address ends with a variable. */
function hasSuffix(url: string): boolean {
  return url.includes("{{");
}

function required(path: string): Fault {
  return { path, message: "is required" };
}
