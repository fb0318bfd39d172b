import { bySection, choiceLines, framedText, splitText } from "../../model/choices-text.ts";
import { type Choice, type Choices, type ContactCard, tapData } from "../../model/content.ts";
import { type MediaSource, type MediaType, type OutboundFile, sentNameOf } from "../../model/file.ts";
import type { Body, Outgoing } from "../../model/network.ts";
import { templateObject } from "./template.ts";

const MAX_CAPTION = 1_024;
const MAX_TEXT = 4_096;
/** The maximum length of the text in a message with buttons, a link or a request for the location. */
const MAX_BODY = 1_024;
const MAX_NAME = 240;
const MENU_TITLE = "Options";
const WITH_LINK = /https?:\/\/\S/i;

/** The fields that differ between bodies: `type`, and the field that `type` names. */
type Fields = { type: string } & Record<string, unknown>;
type ChoicesBody = Body & { kind: "choices" };

export type WhatsAppBody = Record<string, unknown>;

/** A request, and the file in it: where the body has the file itself, Meta gets the id of its upload. */
export interface WhatsAppPart {
  body: WhatsAppBody;
  file?: OutboundFile | undefined;
}

type Media = { type: MediaType; source: MediaSource };

/** The request bodies for a message, in order. The quote is in the first one, the buttons are in the last. */
export function renderForWhatsApp({ address, chatId, messageId, quote, body }: Outgoing): WhatsAppPart[] {
  const common = { ...addressed(address), biz_opaque_callback_data: `${chatId}.${messageId}` };
  const file = fileOf(body);
  return fieldsOf(body, messageId).map((fields, index) => ({
    body: { ...common, ...(index === 0 && quote !== null && { context: { message_id: quote } }), ...fields },
    // Media is always in the first part.
    ...(index === 0 && file && { file }),
  }));
}

/** The file that a message shows. */
function fileOf(body: Body): OutboundFile | null {
  if (body.kind === "template") return body.file;
  const source = body.kind === "media" ? body.source : body.kind === "choices" ? body.media?.source : null;
  return source && "file" in source ? source.file : null;
}

/** The fields that say for whom a request body is. */
export function addressed(address: string): WhatsAppBody {
  return {
    messaging_product: "whatsapp",
    recipient_type: "individual",
    // An address with other characters than digits is a user id, such as `DE.1349120865530274`. `to` accepts only numbers.
    [/^\d+$/.test(address) ? "to" : "recipient"]: address,
  };
}

function fieldsOf(body: Body, messageId: string): Fields[] {
  switch (body.kind) {
    case "text":
      return [textFields(body.text)];
    case "template":
      return [{ type: "template", template: templateObject(body, messageId) }];
    case "media":
      return mediaFields(body, body.caption, body.isVoice);
    case "choices":
      return choicesFields(body, messageId);
    case "location":
      return [{ type: "location", location: { ...body.location } }];
    case "contacts":
      return [{ type: "contacts", contacts: body.contacts.map(cardOf) }];
  }
}

/** A text that does not fit into the caption follows the media. */
function mediaFields({ type, source }: Media, caption: string | null, isVoice = false): Fields[] {
  const isSeparate = caption !== null && (type === "AUDIO" || caption.length > MAX_CAPTION);
  const media = {
    ...mediaObject(type, source),
    ...(isVoice && { voice: true }),
    ...(caption !== null && !isSeparate && { caption: caption.toWellFormed() }),
  };
  const field = type.toLowerCase();
  const texts = isSeparate ? splitText(caption, MAX_TEXT) : [];
  return [{ type: field, [field]: media }, ...texts.map(textFields)];
}

function mediaObject(type: MediaType, source: MediaSource) {
  if ("link" in source) return { link: source.link, ...(type === "DOCUMENT" && fileNameOf(source.link)) };
  const { file } = source;
  return { id: file, ...(type === "DOCUMENT" && { filename: cutName(sentNameOf(file)) }) };
}

function textFields(body: string): Fields {
  return { type: "text", text: { body: body.toWellFormed(), preview_url: WITH_LINK.test(body) } };
}

function choicesFields(body: ChoicesBody, messageId: string): Fields[] {
  const { text, media, interactive } = body;
  const [first] = interactive.choices;
  if (interactive.rendering === "text") {
    const whole = framedText(interactive, text, choiceLines(interactive));
    return media ? mediaFields(media, whole) : splitText(whole, MAX_TEXT).map(textFields);
  }
  const before = media ? mediaFields(media, null) : [];
  if (first?.type === "location") return [...before, ...locationRequest(interactive, text, first.title)];
  if (interactive.rendering === "list") {
    const action = { button: interactive.menuTitle ?? MENU_TITLE, sections: sectionsOf(interactive, messageId) };
    return [...before, interactiveFields("list", { ...frameOf(interactive), body: { text }, action })];
  }
  const field = media?.type.toLowerCase() ?? "";
  const header = media && { header: { type: field, [field]: mediaObject(media.type, media.source) } };
  const frame = { ...frameOf(interactive), ...header, body: { text } };
  if (first?.type === "link") {
    const action = { name: "cta_url", parameters: { display_text: first.title, url: first.url } };
    return [interactiveFields("cta_url", { ...frame, action })];
  }
  const buttons = interactive.choices.map(({ title }, index) => ({
    type: "reply",
    reply: { id: tapData(messageId, index), title },
  }));
  return [interactiveFields("button", { ...frame, action: { buttons } })];
}

/** This form has neither a header nor a footer, and its button has WhatsApp's own label. */
function locationRequest(choices: Choices, text: string, title: string): Fields[] {
  const whole = framedText(choices, text);
  const request = (body: string) =>
    interactiveFields("location_request_message", { body: { text: body }, action: { name: "send_location" } });
  return whole.length <= MAX_BODY ? [request(whole)] : [textFields(whole), request(title)];
}

function interactiveFields(type: string, fields: Record<string, unknown>): Fields {
  return { type: "interactive", interactive: { type, ...fields } };
}

function frameOf({ header, footer }: Choices) {
  return {
    ...(header !== undefined && { header: { type: "text", text: header } }),
    ...(footer !== undefined && { footer: { text: footer } }),
  };
}

/** WhatsApp wants a title for each section if there are several. */
function sectionsOf({ choices, menuTitle = MENU_TITLE }: Choices, messageId: string) {
  const sections = bySection(choices);
  return sections.map(({ section, entries }) => ({
    ...((section !== undefined || sections.length > 1) && { title: section ?? menuTitle }),
    rows: entries.map(({ choice, index }) => rowOf(choice, tapData(messageId, index))),
  }));
}

function rowOf(choice: Choice, id: string) {
  const description = choice.type === "reply" ? choice.description : undefined;
  return { id, title: choice.title, ...(description !== undefined && { description }) };
}

/** Meta wants one part of the name beside the whole name. */
function cardOf({ name, phones }: ContactCard) {
  return { name: { formatted_name: name, first_name: name }, phones: phones.map((phone) => ({ phone })) };
}

/** A document's file name, from its link. Without one, Meta shows "Untitled". */
function fileNameOf(link: string): { filename: string } | undefined {
  const name = URL.parse(link)?.pathname.split("/").at(-1);
  if (!name) return undefined;
  try {
    return { filename: cutName(decodeURIComponent(name)) };
  } catch {
    return { filename: cutName(name) };
  }
}

function cutName(name: string): string {
  return name.slice(0, MAX_NAME).toWellFormed();
}
