import * as z from "zod/mini";
import { type Choices, hasDetails, type Rendering } from "../../model/content.ts";
import { atMost, optional } from "../../model/field.ts";
import type { FileInfo, MediaType } from "../../model/file.ts";
import { UPLOADS } from "../../model/page-facts.ts";
import { pageSettings } from "../../model/page-settings.ts";
import { type ChannelSpec, commonSettings } from "../network/spec.ts";

/** How many entries `allowedOrigins` can have, unless the operator's `limits` of the channel say otherwise. */
export const MAX_ORIGINS = 20;
/** The most that the operator can allow: all of them are in a header of the page. */
export const MOST_ORIGINS = 100;

const ORIGIN_ERROR = "must be an origin, such as https://example.com";

const origin = z.string().check(
  ...atMost(255),
  // Only plain host names: other characters have a special meaning in the page's Content-Security-Policy.
  z.regex(/^https?:\/\/([a-z0-9.-]+|\[[0-9a-f:]+\])(:\d+)?$/, { error: ORIGIN_ERROR, abort: true }),
  z.refine((text) => URL.parse(text)?.origin === text, ORIGIN_ERROR),
);

/** More replies than that, or replies with descriptions, are a list. */
const MAX_BUTTONS = 3;

/** How the visitor's page shows choices. It does not ask for a location. */
function webRendering({ choices }: Choices): Rendering {
  const [first] = choices;
  if (first?.type === "location") return "text";
  if (first?.type === "link") return "link";
  return choices.length <= MAX_BUTTONS && !choices.some(hasDetails) ? "buttons" : "list";
}

/** A web chat needs no credentials. Its contacts are the site's users and anonymous visitors. */
export const webSpec: ChannelSpec = {
  credentials: z.object({}),
  settings: z.object({
    allowedOrigins: optional(z.array(origin).check(z.maxLength(MOST_ORIGINS))),
    uploads: optional(z.enum(UPLOADS)),
    ...pageSettings,
    ...commonSettings,
  }),
  defaults: { allowedOrigins: [], uploads: "everyone", hideWhenClosed: false, askContact: "never" },
  // The addresses of anonymous visitors start with `web_`.
  address: (text) => (text.startsWith("web_") || !text.isWellFormed() ? null : text),
  addressError: "must be well-formed text that does not start with web_",
  renderingOf: webRendering,
  takes: takenByPage,
};

/**
 * The pictures that every browser shows. Sound alone is often in a container of videos: what a browser records, for
 * example.
 */
const SHOWN = { IMAGE: /^image\/(?:jpeg|png|gif|webp)$/, AUDIO: /^(?:audio|video)\//, VIDEO: /^(?:audio|video)\// };

const NOT_SHOWN = {
  IMAGE: "must be a JPEG, PNG, GIF or WebP to be an IMAGE on a web chat",
  AUDIO: "is not an audio file",
  VIDEO: "is not a video",
};

/** Why a visitor's page does not show a file as this type; null if it does. It takes files of any size. */
export function takenByPage({ contentType }: FileInfo, type: MediaType): string | null {
  return type === "DOCUMENT" || SHOWN[type].test(contentType) ? null : NOT_SHOWN[type];
}
