import type { ChannelKind } from "../channels/kinds.ts";
import type { Metadata } from "../db/schema.ts";

/** A chat as the API shows it. */
export interface Chat {
  id: string;
  channel: { id: string; kind: ChannelKind; name: string };
  contact: { address: string; name: string | null };
  metadata: Metadata;
  createdAt: string;
  lastMessageAt: string | null;
}
