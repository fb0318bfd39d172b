import { choiceLines, detailLines, framedText, splitText } from "../../model/choices-text.ts";
import { type ContactCard, type Interactive, type Location, tapData } from "../../model/content.ts";
import type { MediaSource, MediaType, OutboundFile } from "../../model/file.ts";
import type { Body, Outgoing } from "../../model/network.ts";

const MAX_CAPTION = 1_024;
const MAX_TEXT = 4_096;

const FIELDS = { IMAGE: "photo", DOCUMENT: "document", AUDIO: "audio", VIDEO: "video" } as const;
const METHODS = { photo: "sendPhoto", document: "sendDocument", audio: "sendAudio", video: "sendVideo" } as const;

/** An uploaded file in a call, and the name of its field. */
export interface CallFile {
  field: string;
  file: OutboundFile;
}

/** A call of the Bot API. `quote`: the id of the message that it replies to, in the form of `networkIdOf`. */
export interface TelegramPart {
  method: string;
  body: { chat_id: string; message_thread_id?: number } & Record<string, unknown>;
  file?: CallFile | undefined;
  quote?: string | undefined;
}

/** A call without the chat that it is for. */
type Call = [method: string, fields: Record<string, unknown>, file?: CallFile | undefined];

/** The calls for a message, in order. The quote is in the first one, the buttons are in the last. */
export function renderForTelegram({ address, messageId, quote, topic, body }: Outgoing): TelegramPart[] {
  return callsOf(body, messageId).map(([method, fields, file], index) => ({
    method,
    body: { chat_id: address, ...inTopic(topic), ...fields },
    ...(file && { file }),
    ...(index === 0 && quote !== null && { quote }),
  }));
}

/** The field that sends a message or an action to a topic of its chat. */
export function inTopic(topic: string | undefined): { message_thread_id?: number } {
  return topic === undefined ? {} : { message_thread_id: Number(topic) };
}

function callsOf(body: Body, messageId: string): Call[] {
  switch (body.kind) {
    case "text":
    case "template":
      return splitText(body.text, MAX_TEXT).map(textCall);
    case "media":
      return mediaCalls(body, body.caption).map(body.isVoice ? voiceCall : (each) => each);
    case "choices": {
      const { text, media, interactive } = body;
      const lines = interactive.rendering === "text" ? choiceLines(interactive) : detailLines(interactive);
      const whole = framedText(interactive, text, lines);
      const calls = media ? mediaCalls(media, whole) : splitText(whole, MAX_TEXT).map(textCall);
      return withMarkup(calls, markupOf(interactive, messageId));
    }
    case "location":
      return [locationCall(body.location)];
    case "contacts":
      return body.contacts.map(contactCall);
  }
}

/** A text too long for a caption is a second call. */
function mediaCalls(media: { type: MediaType; source: MediaSource }, caption: string | null): Call[] {
  const [method, fields, file] = mediaCall(media);
  if (caption === null) return [[method, fields, file]];
  if (caption.length <= MAX_CAPTION) return [[method, { ...fields, caption: caption.toWellFormed() }, file]];
  return [[method, fields, file], ...splitText(caption, MAX_TEXT).map(textCall)];
}

/** The call for a voice note in place of that for audio. */
function voiceCall([method, { audio, ...fields }, file]: Call): Call {
  if (method !== METHODS.audio) return [method, fields, file];
  const voice = file ? {} : { voice: audio };
  return ["sendVoice", { ...voice, ...fields }, file && { ...file, field: "voice" }];
}

/** Telegram doesn't look into a video that it is sent: without its sides, apps show it as a square. */
function mediaCall({ type, source }: { type: MediaType; source: MediaSource }): Call {
  const field = FIELDS[type];
  const method = METHODS[field];
  if ("link" in source) return [method, { [field]: source.link }];
  const { file } = source;
  const { width, height } = file;
  const sides = type === "VIDEO" && width !== null && height !== null && { width, height };
  return [method, { ...sides }, { field, file }];
}

/** No parse_mode, because the text is not markup. `toWellFormed`, because Telegram refuses lone surrogates. */
function textCall(text: string): Call {
  return ["sendMessage", { text: text.toWellFormed() }];
}

function withMarkup(calls: Call[], markup: Record<string, unknown> | null): Call[] {
  const last = calls.length - 1;
  return calls.map(([method, fields, file], index) =>
    markup && index === last ? [method, { ...fields, reply_markup: markup }, file] : [method, fields, file],
  );
}

/** One button a row, so that no title is cut. */
function markupOf({ choices, rendering }: Interactive, messageId: string): Record<string, unknown> | null {
  if (rendering === "text") return null;
  if (rendering === "keyboard") {
    const keyboard = choices.map(({ title }) => [{ text: title, request_location: true }]);
    return { keyboard, one_time_keyboard: true, resize_keyboard: true };
  }
  const buttons = choices.map((choice, index) =>
    choice.type === "link"
      ? { text: choice.title, url: choice.url }
      : { text: choice.title, callback_data: tapData(messageId, index) },
  );
  return { inline_keyboard: buttons.map((button) => [button]) };
}

/** A venue needs a title and an address. The coordinates stand in for a missing one. */
function locationCall({ latitude, longitude, name, address }: Location): Call {
  if (name === undefined && address === undefined) return ["sendLocation", { latitude, longitude }];
  const place = `${latitude}, ${longitude}`;
  return [
    "sendVenue",
    { latitude, longitude, title: name ?? address, address: name === undefined ? place : (address ?? place) },
  ];
}

/** A Telegram contact has one number. All of several are in its vCard. */
function contactCall({ name, phones }: ContactCard): Call {
  const [phone] = phones;
  return [
    "sendContact",
    { phone_number: phone, first_name: name, ...(phones.length > 1 && { vcard: vCardOf(name, phones) }) },
  ];
}

/** @see RFC 2426 */
function vCardOf(name: string, phones: string[]): string {
  const escaped = name.replace(/[\\,;]/g, "\\$&");
  const numbers = phones.map((phone) => `TEL:${phone}`);
  return ["BEGIN:VCARD", "VERSION:3.0", `FN:${escaped}`, `N:;${escaped};;;`, ...numbers, "END:VCARD"].join("\n");
}
