import * as z from "zod/mini";
import type { ChannelKind } from "../db/schema.ts";
import { atMost, optional, requiredText } from "../http/fields.ts";
import { fault } from "../http/validation.ts";

const MAX_SECRET = 1_024;
/** The last four characters of a secret are shown: there must be enough before them. */
const MIN_SECRET = 8;
const secret = requiredText(MAX_SECRET).check(
  z.refine((text) => text.length >= MIN_SECRET, `must have at least ${MIN_SECRET} characters`),
);

const pace = z.object({ perSecond: optional(z.int().check(z.gte(1), z.lte(1_000))) });

const origin = z.string().check(
  ...atMost(255),
  z.refine(
    // A host of plain letters: others have a meaning of their own in the page's policy.
    (text) => /^https?:\/\/([a-z0-9.-]+|\[[0-9a-f:]+\])(:\d+)?$/.test(text) && URL.parse(text)?.origin === text,
    "must be an origin, as https://example.com",
  ),
);

/**
 * What each kind of channel is given: the secrets that its network wants, the settings that an operator may choose,
 * and how a contact's address there is written.
 */
export const KINDS = {
  whatsapp: {
    credentials: z.object({
      phoneNumberId: z.string().check(z.regex(/^\d{1,32}$/, "must be digits")),
      accessToken: secret,
      appSecret: secret,
    }),
    settings: pace,
    defaults: { perSecond: 80 },
    // A number is written in many ways and is one address: digits alone.
    address: (text: string) => {
      const digits = text.replace(/^\s*\+/, "").replace(/[\s()[\]-]/g, "");
      return /^\d{1,20}$/.test(digits) ? digits : null;
    },
    addressForm: "must be a phone number: digits, with at most a leading +, spaces, dashes and brackets",
  },
  telegram: {
    // Telegram's own form of a bot token: the bot's id, a colon, a secret.
    credentials: z.object({
      botToken: z.string().check(...atMost(128), z.regex(/^\d+:[\w-]{8,}$/, "must be a bot token, as 123456:ABC-DEF")),
    }),
    settings: pace,
    defaults: { perSecond: 25 },
    address: (text: string) => (/^-?[1-9]\d{0,19}$/.test(text) ? text : null),
    addressForm: "must be a chat id: digits without leading zeros, with a leading - for a group",
  },
  web: {
    credentials: z.object({}),
    settings: z.object({ allowedOrigins: optional(z.array(origin).check(z.maxLength(100))) }),
    defaults: { allowedOrigins: [] as string[] },
    // `web_` begins the addresses of visitors whom no site has named.
    address: (text: string) => (text.startsWith("web_") || !text.isWellFormed() ? null : text),
    addressForm: "must be well-formed text that does not start with web_",
  },
} as const satisfies Record<ChannelKind, unknown>;

/**
 * A contact's address as its channel stores it.
 * @throws ApiError `validation_failed` for a text that is no address there
 */
export function contactAddress(kind: ChannelKind, text: string): string {
  const address = KINDS[kind].address(text);
  if (address === null) throw fault("contact.address", KINDS[kind].addressForm);
  return address;
}
