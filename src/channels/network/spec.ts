import * as z from "zod/mini";
import { awaySetting } from "../../model/away.ts";
import { botSetting } from "../../model/bot-setting.ts";
import type { ChannelSettings } from "../../model/channel.ts";
import type { RenderingOf } from "../../model/content.ts";
import { atMost, notBlankIfGiven, optional, REQUIRED, wellFormed } from "../../model/field.ts";
import type { FileInfo, MediaType } from "../../model/file.ts";
import { hoursSetting } from "../../model/opening-hours-schema.ts";
import type { Alike } from "../../model/organization.ts";
import { MAX_STOP_WORD, MAX_STOP_WORDS } from "../../model/stop-words.ts";

/** What defines a kind of channel: its credentials, its settings, and the form of its contacts' addresses. */
export interface ChannelSpec {
  credentials: z.ZodMiniObject<Record<string, z.ZodMiniType<string>>>;
  settings: z.ZodMiniType<ChannelSettings>;
  defaults: ChannelSettings;
  /** The network's id of the account that credentials are for. Only for networks that call one URL for several accounts. */
  accountOf?: (credentials: Record<string, string>) => string | null;
  /** A contact's address as the channel stores it; null if the text is not an address. */
  address(text: string): string | null;
  /** Other ways to write an address; absent if there are none on this kind of channel. */
  alike?: (address: string) => Alike;
  /** The error message for a text that is not an address. */
  addressError: string;
  renderingOf: RenderingOf;
  /**
   * Why the channel does not take a file as a message of this type, as the end of an error message; null if it does.
   * Every channel takes every file as a DOCUMENT.
   */
  takes(file: FileInfo, type: MediaType): string | null;
  /** Whether audio of this type can be a voice note; null for an unknown type. Absent: the channel has none. */
  takesVoice?: (contentType: string | null) => boolean;
}

const MAX_SECRET = 1_024;
/** Responses show the last four characters of a secret, so enough other characters must stay hidden. */
const MIN_SECRET = 8;

const present = z.refine<string>((text) => text !== "", { error: REQUIRED, abort: true });

/**
 * A credential; surrounding white space is trimmed. `form` must allow that white space, because the OpenAPI document
 * publishes the pattern. `form` must allow only visible ASCII otherwise: credentials become part of headers and URLs,
 * and the runtime's error about other characters quotes the whole header.
 */
export function credential(form: RegExp, error: string, max: number) {
  return z.string().check(z.trim(), present, ...atMost(max), z.regex(form, error));
}

/** A secret without a documented form. */
export const secret = credential(/^\s*[!-~]+\s*$/, "must be visible ASCII characters without spaces", MAX_SECRET).check(
  z.minLength(MIN_SECRET),
);

/** How many calls of a network a channel can make per second. */
export const MAX_CHANNEL_PER_SECOND = 1_000;

const stopWord = z.string().check(z.trim(), notBlankIfGiven, wellFormed, ...atMost(MAX_STOP_WORD));

/** The settings of every kind of channel. */
export const commonSettings = {
  stopWords: optional(z.array(stopWord).check(z.maxLength(MAX_STOP_WORDS))),
  bot: optional(botSetting),
  hours: optional(hoursSetting),
  away: optional(awaySetting),
};

export const networkSettings = z.object({
  perSecond: optional(z.int().check(z.gte(1), z.lte(MAX_CHANNEL_PER_SECOND))),
  ...commonSettings,
});
