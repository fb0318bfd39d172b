import { type Signal, signal } from "@preact/signals";
import { FileStage } from "../../shared/files/stage.ts";
import type { SettingsChange } from "../channels/channel-kinds.ts";
import type { Draft } from "./conversation-store.ts";

/** Keeps values for this tab alone: never on the server, and gone with the tab. */
function inTab<T>(prefix: string) {
  return {
    read(of: string): T | null {
      const text = sessionStorage.getItem(prefix + of);
      return text === null ? null : (JSON.parse(text) as T);
    },
    /** Keeps a value also if the page is loaded again. */
    save(of: string, value: T | null): void {
      try {
        if (value) sessionStorage.setItem(prefix + of, JSON.stringify(value));
        else sessionStorage.removeItem(prefix + of);
      } catch {
        // The storage is full or off. Only a page that is loaded again forgets the value.
      }
    },
  };
}

/** The texts that wait in chats, and in the editors of templates. An empty one is not kept. */
export const drafts = inTab<string>("parley.text.");

const texts = new Map<string, Signal<string>>();

/** The text that waits in a chat. An undo puts one back also if another chat is open. */
export function textIn(chatId: string): Signal<string> {
  const text = texts.get(chatId) ?? signal(drafts.read(chatId) ?? "");
  texts.set(chatId, text);
  return text;
}

/** The settings of channels that were changed and not saved. */
export const settingsDrafts = inTab<SettingsChange>("parley.settings.");

/** As the service. */
const MAX_FILE_BYTES = 16 * 1_048_576;
const stages = new Map<string, FileStage>();

/** The files that wait in a chat. They are gone with the page. */
export function stageOf(chatId: string): FileStage {
  const stage = stages.get(chatId) ?? new FileStage(MAX_FILE_BYTES);
  stages.set(chatId, stage);
  return stage;
}

/** A send whose answer is not known: the service may have it. */
export interface Undecided {
  key: string;
  /** What the person wanted to send. */
  draft: Draft;
  /** What was sent: a repeat must be the same to the last field. */
  body: Draft;
}

/** The sends of chats whose answers were lost. */
export const undecidedSends = inTab<Undecided>("parley.undecided.");

const SENDER = "parley.sender.";

/** The member in whose name the operator wrote last. */
export function readSender(organizationId: string): string | null {
  return localStorage.getItem(SENDER + organizationId);
}

export function saveSender(organizationId: string, memberId: string): void {
  localStorage.setItem(SENDER + organizationId, memberId);
}
