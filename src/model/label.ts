import { folded } from "./folding.ts";

/** A label is a name that an organization gives to chats, to find them again. A chat can have several. */

/** How many an organization can have. */
export const MAX_LABELS = 200;
/** How many a chat can have. */
export const MAX_LABELS_OF_CHAT = 20;
export const MAX_LABEL_NAME = 40;

/** A label as a chat shows it. */
export interface ChatLabel {
  id: string;
  name: string;
}

/** A label of an organization. */
export interface Label extends ChatLabel {
  /** `#rrggbb`; null for none. */
  color: string | null;
  /** How many chats have it. */
  chats: number;
}

/** What can be changed of a label. Undefined stays as it is. */
export interface LabelChange {
  name?: string | undefined;
  color?: string | null | undefined;
}

/** What an organization's object did with a label: its record, or why not. */
export type LabelAnswer =
  | { outcome: "ok"; label: Label }
  | { outcome: "label_not_found" | "label_exists" | "label_limit" | "no_organization" };

/** A label's name in the form in which names are compared: what looks alike is alike. */
export function foldedLabel(name: string): string {
  return folded(name).trim().replace(/\s+/g, " ");
}
