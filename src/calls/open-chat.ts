import type { ChannelKind } from "../model/channel-kind.ts";
import type { Metadata } from "../model/content.ts";
import { jurisdictionOf, newId } from "../model/id.ts";
import type { Alike, OpenAnswer } from "../model/organization.ts";
import type { Region } from "../model/region.ts";
import { webChatId } from "../model/visitor.ts";
import { callOrganization } from "./call-organization.ts";

/** A request for the chat of a contact's address. */
export interface NewChat {
  channel: { id: string; organizationId: string; kind: ChannelKind; region?: Region | null | undefined };
  address: string;
  /** Further addresses of the same contact. A chat of any of them is the contact's chat. */
  others?: string[];
  alike?: Alike;
  name?: string | null;
  username?: string | null | undefined;
  metadata?: Metadata;
  personId?: string | undefined;
  /** Whether limits on the number of chats apply. */
  isLimited: boolean;
}

/** Creates the chat of a contact's address, or finds it, in one call of the organization's object. */
export async function openChat(env: Env, request: NewChat): Promise<OpenAnswer> {
  const { channel, address, others = [], alike, name = null, username, metadata = {}, personId, isLimited } = request;
  const { id: channelId, organizationId, kind, region } = channel;
  // A visitor's tabs meet in one object before there is a chat, so the id of a web chat is derived.
  const proposedId =
    kind === "web" ? await webChatId(channelId, address) : newId("cht", jurisdictionOf(organizationId));
  const asked = {
    organizationId,
    channelId,
    address,
    others,
    ...(alike && { alike }),
    name,
    username,
    metadata,
    ...(personId !== undefined && { personId }),
    proposedId,
    isLimited,
  };
  return callOrganization(env, organizationId, (organization) => organization.open(asked), region);
}
