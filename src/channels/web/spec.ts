import * as z from "zod/mini";
import { atMost, optional } from "../../http/fields.ts";
import type { ChannelSpec } from "../spec.ts";

const NO_ORIGIN = "must be an origin, as https://example.com";

const origin = z.string().check(
  ...atMost(255),
  // A host of plain letters: other characters have a meaning of their own in the page's policy.
  z.regex(/^https?:\/\/([a-z0-9.-]+|\[[0-9a-f:]+\])(:\d+)?$/, { error: NO_ORIGIN, abort: true }),
  z.refine((text) => URL.parse(text)?.origin === text, NO_ORIGIN),
);

/** A web chat wants no secrets; its contacts are the site's own users, and visitors whom no site has named. */
export const webSpec: ChannelSpec = {
  credentials: z.object({}),
  settings: z.object({ allowedOrigins: optional(z.array(origin).check(z.maxLength(100))) }),
  defaults: { allowedOrigins: [] },
  // `web_` begins the addresses of visitors whom no site has named.
  address: (text) => (text.startsWith("web_") || !text.isWellFormed() ? null : text),
  addressForm: "must be well-formed text that does not start with web_",
};
