import * as z from "zod/mini";
import { atMost, optional, REQUIRED } from "../http/fields.ts";

/** `allowedOrigins` on web channels; `perSecond`, the pace of the network, on the others. */
export interface ChannelSettings {
  allowedOrigins?: string[] | undefined;
  perSecond?: number | undefined;
}

/**
 * What a channel of one kind is given: the secrets that its network wants, the settings that an operator may choose,
 * and how a contact's address there is written.
 */
export interface ChannelSpec {
  credentials: z.ZodMiniObject<Record<string, z.ZodMiniType<string>>>;
  settings: z.ZodMiniType<ChannelSettings>;
  /** What a setting is that nobody chose. */
  defaults: ChannelSettings;
  /** The network's name of the account that credentials are for. Only if the network calls one address for several. */
  accountOf?: (credentials: Record<string, string>) => string | null;
  /** A contact's address as the channel stores it; null for a text that is none. */
  address(text: string): string | null;
  /** What is wrong with a text that is no address. */
  addressError: string;
}

const MAX_SECRET = 1_024;
/** The answers show the last four characters of a secret: there must be enough before them. */
const MIN_SECRET = 8;

const present = z.refine<string>((text) => text !== "", { error: REQUIRED, abort: true });

/**
 * A credential, without the white space around it. `form` allows that white space, because the OpenAPI document shows
 * the pattern. Credentials go into headers and addresses, so a form has only visible ASCII: the runtime's error about
 * any other character quotes the whole header.
 */
export function credential(form: RegExp, error: string, max: number) {
  return z.string().check(z.trim(), present, ...atMost(max), z.regex(form, error));
}

/** A secret in no known form. */
export const secret = credential(/^\s*[!-~]+\s*$/, "must be visible ASCII characters without spaces", MAX_SECRET).check(
  z.minLength(MIN_SECRET, `must have at least ${MIN_SECRET} characters`),
);

/** The settings of a network's channel. */
export const pace = z.object({ perSecond: optional(z.int().check(z.gte(1), z.lte(1_000))) });
