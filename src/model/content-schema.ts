import * as z from "zod/mini";
import {
  type Choices,
  type ContactCard,
  type Interactive,
  isEmoji,
  isMediaType,
  type Location,
  type MessageType,
} from "./content.ts";
import type { Fault } from "./error.ts";
import { atMost, notBlank, notBlankIfGiven, notEmpty, optional, wellFormed } from "./field.ts";
import type { TemplateParts } from "./template.ts";

/** The fields of a send that say more than text: choices, a location, contact cards. */

export const MAX_MESSAGE_CHOICES = 10;
export const MAX_CHOICE_ID = 200;
export const MAX_TITLE = 24;
export const MAX_DESCRIPTION = 72;
export const MAX_SECTION = 24;
export const MAX_MENU_TITLE = 20;
export const MAX_HEADER = 60;
export const MAX_CHOICE_URL = 500;
/** The longest text above choices. */
export const MAX_INTERACTIVE_CONTENT = 1_024;
export const MAX_PLACE_TEXT = 256;
export const MAX_CARDS = 5;
export const MAX_CARD_NAME = 128;
export const MAX_PHONES = 5;
export const MAX_PHONE = 32;

/** What a message to the contact says besides text. */
export interface Extra {
  interactive?: Interactive | undefined;
  location?: Location | undefined;
  contacts?: ContactCard[] | undefined;
  /** The id of the message that it replies to. */
  replyTo?: string | undefined;
  /** The values for the template's header and buttons. */
  template?: TemplateParts | undefined;
  /** A draft: it is to be a voice note. A message: whether it goes out as one. */
  voice?: boolean | undefined;
}

/** The same before the chat has accepted it. Choices have a rendering only in a resend, which keeps the first one's. */
export type DraftExtra = Omit<Extra, "interactive"> & {
  interactive?: (Choices & Partial<Pick<Interactive, "rendering">>) | undefined;
};

/** Apps show these texts in one line. */
export const oneLine = z.refine<string>(
  (text) => !/\p{Cc}/u.test(text),
  "must be one line, without control characters",
);

const text = (max: number) => z.string().check(notBlank, wellFormed, oneLine, ...atMost(max));
const textIfGiven = (max: number) => optional(z.string().check(notBlankIfGiven, wellFormed, oneLine, ...atMost(max)));

const linkUrl = z.string().check(
  wellFormed,
  ...atMost(MAX_CHOICE_URL),
  // Without the flag `i`, because the OpenAPI document contains this pattern.
  z.regex(/^[Hh][Tt][Tt][Pp][Ss]?:\/\/[^\s\\]+$/, { error: "must be an http or https URL", abort: true }),
  oneLine,
  z.refine((url) => isWebUrl(url), "must be an http or https URL"),
);

const choice = z.discriminatedUnion(
  "type",
  [
    z.object({
      type: z.literal("reply"),
      id: z.string().check(notEmpty, wellFormed, ...atMost(MAX_CHOICE_ID)),
      title: text(MAX_TITLE),
      description: textIfGiven(MAX_DESCRIPTION),
      section: textIfGiven(MAX_SECTION),
    }),
    z.object({ type: z.literal("link"), title: text(MAX_TITLE), url: linkUrl }),
    z.object({ type: z.literal("location"), title: text(MAX_TITLE) }),
  ],
  { error: ({ code }) => (code === "invalid_union" ? "must be reply, link or location" : undefined) },
);

/** Choices of one type, with titles and ids that differ. */
export const choicesBody = z
  .object({
    choices: z.array(choice).check(z.minLength(1), z.maxLength(MAX_MESSAGE_CHOICES)),
    header: textIfGiven(MAX_HEADER),
    footer: textIfGiven(MAX_HEADER),
    menuTitle: textIfGiven(MAX_MENU_TITLE),
  })
  .check(({ value, issues }) => {
    for (const { path, message } of choiceFaults(value)) {
      issues.push({ code: "custom", input: value, path, message });
    }
  });

const degrees = (max: number) => z.number().check(z.gte(-max), z.lte(max));

/** A location, in degrees. */
export const locationBody = z.object({
  latitude: degrees(90),
  longitude: degrees(180),
  name: textIfGiven(MAX_PLACE_TEXT),
  address: textIfGiven(MAX_PLACE_TEXT),
});

/** 1 to 5 contact cards. */
export const contactsBody = z
  .array(
    z.object({
      name: text(MAX_CARD_NAME),
      phones: z
        .array(
          z
            .string()
            .check(
              ...atMost(MAX_PHONE),
              z.regex(/^\+?[\d ()./-]*\d[\d ()./-]*$/, "must be a phone number: digits, with at most a leading +"),
            ),
        )
        .check(z.minLength(1), z.maxLength(MAX_PHONES)),
    }),
  )
  .check(z.minLength(1), z.maxLength(MAX_CARDS));

/** The emoji of a reaction. */
export const oneEmoji = z.string().check(z.refine(isEmoji, "must be one emoji"));

/** What is wrong between the choices. */
function choiceFaults({ choices }: Choices): { path: (string | number)[]; message: string }[] {
  const [first] = choices;
  const faults: { path: (string | number)[]; message: string }[] = [];
  for (const [index, each] of choices.entries()) {
    const before = choices.slice(0, index);
    if (each.type !== first?.type) {
      faults.push({
        path: ["choices", index, "type"],
        message: `must be ${first?.type}, as all choices are of one type`,
      });
    } else if (each.type === "location" && index > 0) {
      faults.push({ path: ["choices", index], message: "must be the only choice, because it asks for the location" });
    }
    if (before.some(({ title }) => title === each.title)) {
      faults.push({ path: ["choices", index, "title"], message: "must differ from the other titles" });
    }
    if (each.type === "reply" && before.some((other) => other.type === "reply" && other.id === each.id)) {
      faults.push({ path: ["choices", index, "id"], message: "must differ from the other ids" });
    }
  }
  return faults;
}

export const NOT_A_VOICE = "can be given with the type AUDIO only";

/** The fields of a send that go together or not; see `combinationFaults`. */
interface Combined {
  content: string;
  type?: MessageType | undefined;
  templateId?: string | undefined;
  mediaUrl?: string | undefined;
  mediaId?: string | undefined;
  interactive?: Choices | undefined;
  location?: unknown;
  contacts?: unknown;
  template?: unknown;
  voice?: boolean | undefined;
}

/** What a send can't have at once. */
export function combinationFaults(body: Combined): Fault[] {
  const { content, type, mediaUrl, mediaId, interactive } = body;
  const faults: Fault[] = [];
  const given = (["templateId", "interactive", "location", "contacts"] as const).filter(
    (field) => body[field] !== undefined,
  );
  for (const field of given.slice(1)) faults.push({ path: field, message: `can't be given with ${given[0]}` });
  if (body.template !== undefined && body.templateId === undefined) {
    faults.push({ path: "template", message: "can't be given without templateId" });
  }
  // A file without a type chooses it, and the chat knows which.
  if (body.voice && type !== "AUDIO" && (type !== undefined || mediaId === undefined)) {
    faults.push({ path: "voice", message: NOT_A_VOICE });
  }
  const isMedia = mediaId !== undefined || (type !== undefined && isMediaType(type));
  for (const field of given) {
    if (field !== "location" && field !== "contacts") continue;
    if (mediaUrl !== undefined) faults.push({ path: "mediaUrl", message: `can't be given with ${field}` });
    if (mediaId !== undefined) faults.push({ path: "mediaId", message: `can't be given with ${field}` });
    if (type !== undefined && type !== "TEXT") faults.push({ path: "type", message: `must be TEXT with ${field}` });
  }
  if (mediaId !== undefined) {
    if (mediaUrl !== undefined) faults.push({ path: "mediaUrl", message: "can't be given with mediaId" });
    if (body.templateId !== undefined) faults.push({ path: "mediaId", message: "can't be given with templateId" });
    if (type !== undefined && !isMediaType(type))
      faults.push({ path: "type", message: "must be a type of media with mediaId" });
  }
  if (!interactive) return faults;
  if (content.length > MAX_INTERACTIVE_CONTENT) {
    const message = `must have at most ${MAX_INTERACTIVE_CONTENT} characters with interactive`;
    faults.push({ path: "content", message });
  }
  if (type === "AUDIO") faults.push({ path: "type", message: "can't be AUDIO with interactive" });
  if (type === "TEMPLATE") faults.push({ path: "type", message: "can't be TEMPLATE with interactive" });
  if (isMedia && interactive.header !== undefined) {
    faults.push({ path: "interactive.header", message: "can't be given with media, which stands in its place" });
  }
  if (isMedia && mediaUrl === undefined && mediaId === undefined) {
    faults.push({ path: "mediaUrl", message: "is required with interactive" });
  }
  if (isMedia && [mediaUrl, mediaId].includes(content.trim())) {
    faults.push({ path: "content", message: "must be the text above the choices, not the media" });
  }
  return faults;
}

function isWebUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && ["http:", "https:"].includes(url.protocol) && url.username === "" && url.password === "";
}
