import { ADAPTERS } from "../../channels/registry.ts";
import { quickRepliesOf, templateAsText } from "../../channels/templates/object/as-text.ts";
import { webSpec } from "../../channels/web/spec.ts";
import type { ChannelKind } from "../../model/channel-kind.ts";
import type { ChatIdentity, Draft, Prepared } from "../../model/chat-answers.ts";
import { type Interactive, isMediaType } from "../../model/content.ts";
import type { FileInfo, MediaType } from "../../model/file.ts";
import { linkedMedia } from "../../model/link.ts";
import type { AcceptedDraft } from "./log/new-message.ts";

/**
 * A draft in the form of its chat's channel: its choices with their rendering, and a whole template as text where the
 * network has no templates. Its quick replies are choices everywhere, so that a tap is the same on all channels. What the
 * channel can't send as a voice note goes out as audio.
 * @param media the uploaded file that it sends
 */
export function forChannel(
  { channelKind, contactAddress: address }: ChatIdentity,
  draft: Draft,
  prepared: Prepared,
  media: FileInfo | null = null,
): { accepted: AcceptedDraft; prepared: Prepared } {
  const { interactive, voice: wanted, ...rest } = draft.extra ?? {};
  const channel = channelKind === "web" ? webSpec : ADAPTERS[channelKind];
  const others = wanted ? { ...rest, voice: channel.takesVoice?.(audioTypeOf(draft, media)) ?? false } : rest;
  const { template } = prepared;
  const accept = (shown: Interactive | null, said = prepared) => ({
    accepted: { ...draft, extra: { ...(shown && { interactive: shown }), ...others } },
    prepared: said,
  });
  if (interactive) {
    const hasMedia = isMediaType(draft.type);
    const rendering = interactive.rendering ?? channel.renderingOf(interactive, { address, hasMedia });
    return accept({ ...interactive, rendering });
  }
  if (!template?.parts) return accept(null);
  if (networkWithTemplates(channelKind)) {
    const choices = quickRepliesOf(template.parts);
    return accept(choices && { ...choices, rendering: "buttons" });
  }
  const { text, interactive: choices } = templateAsText(template.parts, prepared.text);
  const rendering = choices && channel.renderingOf(choices, { address, hasMedia: false });
  // A scheduled message is judged again by its template, and so is a resend.
  const judged = template.isMarketing ? { ...template, parts: undefined, isText: true as const } : null;
  return accept(choices && rendering && { ...choices, rendering }, { ...prepared, text, template: judged });
}

/** The content type of an audio message; null if it is not known, as behind most links. */
function audioTypeOf(draft: Draft, media: FileInfo | null): string | null {
  if (media) return media.contentType;
  const link = linkedMedia(draft)?.link;
  return link !== undefined && /\.(?:ogg|oga|opus)$/i.test(URL.parse(link)?.pathname ?? "") ? "audio/ogg" : null;
}

/**
 * Why a file can't be the header of a template; null if it can. A network with templates must accept it as the approved
 * type. On other networks, it is sent above the text as its own type.
 */
export function headerFault(
  file: FileInfo,
  format: Exclude<MediaType, "AUDIO">,
  channelKind: ChannelKind,
): string | null {
  const network = networkWithTemplates(channelKind);
  if (network) return network.takes(file, format);
  const isFormat = format === "DOCUMENT" || file.contentType.startsWith(`${format.toLowerCase()}/`);
  return isFormat ? null : `must be of the kind that the template's header is, ${format}`;
}

function networkWithTemplates(channelKind: ChannelKind) {
  const network = channelKind === "web" ? null : ADAPTERS[channelKind];
  return network?.listTemplates ? network : null;
}
