import { CALL_FAULTS, OBJECT_FAULTS } from "../objects/rules.ts";
import type { World } from "../objects/world.ts";

/** What may go wrong. Each seed has a part of it. */
export const ORGANIZATION_FAULTS = [
  ...CALL_FAULTS,
  "instance lost",
  "isolate lost",
  ...OBJECT_FAULTS,
  "organization away",
  "D1 down",
  "D1 late",
  "network refuses",
] as const;
type OrganizationFault = (typeof ORGANIZATION_FAULTS)[number];

/** What must hold. */
export const ORGANIZATION_INVARIANTS = {
  address: "an address has at most one chat, and each address of a chat leads to it",
  total: "a channel's count is the number of its chats that are not being deleted",
  life: "a new chat has a greater life than every chat of its id before it",
  paired: "an object holds a chat only while its organization has that chat",
  kept: "an object loses its chat only if the chat is being deleted",
  emptied: "a chat's row goes only after its object was emptied",
  asked: "a chat is deleted only if somebody asked for that",
  buried: "after the answer of a deletion nothing of the chat is left but a tombstone",
  opened: "an address whose chat is being deleted gets no chat",
  stored: "an acknowledged message stays until its chat is deleted",
  dense: "the messages of a chat are numbered without a gap",
  blank: "after the answer of a redaction no list shows the text",
  rest: "when faults have stopped, all alarms end",
  adopted: "at rest each chat is adopted, by the one object of its id",
  clean: "at rest an object without a chat stores nothing",
  report: "at rest the organization knows each chat's state",
  feed: "at rest the feed points to each event of each chat once, in order",
  numbers: "at rest the numbers of a channel are the sums of its chats'",
  free: "at rest each address of a living channel has a chat or gets one",
  erased: "a deleted channel or organization has no chat, and gets none",
} as const;
type OrganizationInvariant = keyof typeof ORGANIZATION_INVARIANTS;

export type OrganizationWorld = World<OrganizationFault, OrganizationInvariant>;
