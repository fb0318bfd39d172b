import type { Adapter, FilesPort, Network } from "../../../channels/network/adapter.ts";
import type { Credentials } from "../../../model/channel.ts";
import { isMediaType } from "../../../model/content.ts";
import { type MediaSource, type MediaType, typeOfFile } from "../../../model/file.ts";
import { linkedMedia } from "../../../model/link.ts";
import {
  type Body,
  MEDIA_URL_REQUIRED,
  type Outbound,
  type Outcome,
  type PartRefusal,
} from "../../../model/network.ts";

type Renderer = Pick<Adapter, "render" | "takes">;

/** How many calls a message needs in total, including the parts in `partsSent`; 1 if it can't be sent. */
export function countParts(adapter: Renderer, message: Outbound): number {
  const body = bodyOf(message, adapter);
  return "outcome" in body ? 1 : adapter.render({ ...message, body }).length;
}

/**
 * Sends the parts of a message that are not in `partsSent`, one after the other; never throws.
 * @param signal aborts at the attempt's deadline
 * @param onPart receives the network's id of each part before the next part is sent
 */
export async function sendParts(
  adapter: Renderer & Pick<Adapter, "post">,
  message: Outbound,
  credentials: Credentials,
  network: Network,
  signal: AbortSignal,
  files: FilesPort,
  onPart?: (networkId: string) => void,
): Promise<Outcome> {
  const parts = [...message.partsSent];
  const body = bodyOf(message, adapter);
  if ("outcome" in body) return { ...body, parts };
  const addresses = new Set<string>();
  for (const part of adapter.render({ ...message, body }).slice(parts.length)) {
    const result = await adapter.post(part, credentials, network, signal, files);
    if (result.outcome !== "sent") return { ...result, parts };
    parts.push(result.id);
    onPart?.(result.id);
    for (const address of result.addresses) addresses.add(address);
  }
  addresses.delete(message.address);
  return { outcome: "sent", parts, addresses: [...addresses] };
}

/** Returns what a message says to a network, or why it can't be sent to any. */
function bodyOf(message: Outbound, adapter: Renderer): Body | PartRefusal {
  const { text, template, interactive, location, contacts, file } = message;
  if (message.type === "TEMPLATE" && template) return { kind: "template", text, file, ...template };
  if (location) return { kind: "location", location };
  if (contacts) return { kind: "contacts", contacts };
  const type = mediaTypeOf(message, adapter);
  if (type === null) {
    return interactive ? { kind: "choices", text, media: null, interactive } : { kind: "text", text };
  }
  const shown = shownMedia(message);
  if (!shown) {
    const reason = `The ${type.toLowerCase()} needs a link: set mediaUrl to an https URL`;
    return { outcome: "failed", code: MEDIA_URL_REQUIRED, message: reason };
  }
  if (!interactive) return { kind: "media", type, ...shown, ...(message.isVoice && { isVoice: true }) };
  return { kind: "choices", text, media: { type, source: shown.source }, interactive };
}

/** On a network without templates, a template's file is above its text. */
function mediaTypeOf({ type, file }: Outbound, adapter: Renderer): MediaType | null {
  if (isMediaType(type)) return type;
  return type === "TEMPLATE" && file ? typeOfFile(file, adapter) : null;
}

/** The media of a message and its caption; null without any. Content that only names the media is not a caption. */
function shownMedia({ type, content, mediaUrl, text, file }: Outbound): {
  source: MediaSource;
  caption: string | null;
} | null {
  if (file && type === "TEMPLATE") return { source: { file }, caption: text };
  if (file) return { source: { file }, caption: content.trim() === file.id ? null : content };
  const linked = linkedMedia({ content, mediaUrl });
  return linked && { source: { link: linked.link }, caption: linked.caption };
}
