import type { MediaType } from "./file.ts";

/** What a message can be and have. The names of the fields are those of the API. */

export const MESSAGE_TYPES = ["TEXT", "IMAGE", "DOCUMENT", "AUDIO", "VIDEO", "TEMPLATE"] as const;
export type MessageType = (typeof MESSAGE_TYPES)[number];

/** Whether messages of a type have media. */
export function isMediaType(type: MessageType): type is MediaType {
  return type !== "TEXT" && type !== "TEMPLATE";
}

/** A choice that the contact taps: a reply, a link, or a request for the contact's location. */
export type Choice =
  | {
      type: "reply";
      /** The company's own id, which comes back with the tap. The networks never see it. */
      id: string;
      title: string;
      description?: string | undefined;
      section?: string | undefined;
    }
  | { type: "link"; title: string; url: string }
  | { type: "location"; title: string };

/** Whether a choice says more than its title: a reply with a description or a section. */
export function hasDetails(choice: Choice): boolean {
  return choice.type === "reply" && (choice.description !== undefined || choice.section !== undefined);
}

/** Choices, all of one type, and the texts around them. */
export interface Choices {
  choices: Choice[];
  header?: string | undefined;
  footer?: string | undefined;
  /** The label of the button that opens a list. */
  menuTitle?: string | undefined;
}

/**
 * How a channel shows choices. `text`: the choices are lines of the text. `keyboard`: buttons in place of the keyboard.
 */
export const RENDERINGS = ["buttons", "list", "link", "keyboard", "text"] as const;
export type Rendering = (typeof RENDERINGS)[number];

/**
 * How a channel shows choices. It is decided when a message is accepted, and kept with it. It depends only on the
 * arguments: `address` is the contact's, `hasMedia` whether the choices are below media.
 */
export type RenderingOf = (choices: Choices, message: { address: string; hasMedia: boolean }) => Rendering;

/** Choices of a stored message. Their rendering was chosen when the message was accepted. */
export interface Interactive extends Choices {
  rendering: Rendering;
}

/** A place on the earth, in degrees (WGS 84). */
export interface Location {
  latitude: number;
  longitude: number;
  name?: string | undefined;
  address?: string | undefined;
}

/** A contact card. It has at least one phone number, as its sender wrote it. */
export interface ContactCard {
  name: string;
  phones: string[];
}

/** Whether a text is one emoji that all platforms know, with its modifiers and joiners. */
export function isEmoji(text: string): boolean {
  return /^\p{RGI_Emoji}$/v.test(text);
}

/** The choice that a contact tapped. `data`: what came with the tap, `<messageId>:<index>` unless it is forged. */
export interface Tap {
  data: string;
  /** As the network shows it; empty if the network doesn't say. */
  title: string;
}

/** What a tap brings with it: the message that offers the choice, and its index. */
export function tapData(messageId: string, index: number): string {
  return `${messageId}:${index}`;
}

/** The message and the index in a tap's data; null if `tapData` did not write it. */
export function parseTap(data: string): { messageId: string; index: number } | null {
  const [, messageId, index] = /^(msg_\w{1,40}):(\d)$/.exec(data) ?? [];
  return messageId && index ? { messageId, index: Number(index) } : null;
}

/** The client's own key-value pairs. */
export type Metadata = Record<string, string>;
