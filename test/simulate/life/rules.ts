import type { ChannelBot } from "../../../src/model/handover.ts";
import { CALL_FAULTS, OBJECT_FAULTS } from "../objects/rules.ts";
import type { World } from "../objects/world.ts";

/** What may go wrong. Each seed has a part of it. */
export const LIFE_FAULTS = [
  ...CALL_FAULTS,
  ...OBJECT_FAULTS,
  "clock set back",
  "chat lost",
  "chat deleted",
  "chat full",
  "channel broken",
  "channel's pace",
  "channel does not answer",
  "network refuses",
  "network slow",
  "a month passes",
  "isolate lost",
  "body cut",
  "body late",
  "R2 fails",
  "R2 slow",
  "R2's answer lost",
  "R2 keeps a key",
] as const;
/** The channel of all chats. */
export const CHANNEL_ID = "chn_g00000000000000c";

/** The bot of that channel, if it has one. */
export const BOT: ChannelBot = { version: 1, handOverAfterSeconds: 60 };

/** This simulation has no D1. */
type LifeFault = (typeof LIFE_FAULTS)[number] | "D1 late";

/** What must hold. Times are those of the chat's own clock. */
export const LIFE_INVARIANTS = {
  early: "no message takes its place before its scheduled time",
  wire: "only a message with a place is sent, and only while it is queued",
  once: "a message is in one place, and it takes its place once and stays there, with its id and its content",
  turn: "due messages take their places in the order of their times",
  dense: "the messages of a chat are numbered without a gap, above those that its retention deleted",
  order: "the network is called in the order of the sequence",
  expiry: "no attempt begins after a message has expired, and it does not take its place then",
  expired: "a message fails as expired only after its expiry",
  delay: "a message's first attempt waits for no message that is not due",
  canceled: "a canceled message was never sent, and stays canceled",
  forward: "a message that ended is not queued or scheduled again, and none that was read is unread",
  page: "an open page is told of every message once and in order, and of statuses that go forward",
  shown: "a page that connects, and one that stays open, shows each message as it is",
  told: "what a client was told of a change is what is stored",
  refused: "a client is refused only for the reason that it was told",
  resent: "a failed message is sent again once at most, as a new message",
  elsewhere: "a message that was written elsewhere is stored once, if it is none of the chat's own, and not lost",
  held: "it takes no place while the outcome of an attempt is open, for 90 seconds at most",
  handed: "a chat has one handler, the bot writes only while it has the chat, and a silent bot loses it",
  worked:
    "a chat is open, snoozed or closed as was asked last, a contact's message opens it, and a snooze ends in time",
  labeled: "a chat has the labels that it was given, each once, and its organization knows them",
  crossed: "a message with ifSeq follows the one that it names",
  key: "an idempotency key, or a network's id, returns its message in every state, and no other request's",
  times: "no message is created before the one before it",
  kept: "a stored message stays until its retention ends, one without a place for 30 days after its end at most",
  waiting: "retention deletes no message that waits for its network",
  purged: "old messages are deleted within a day, and then the empty chat",
  alarm: "while a message is scheduled, an alarm is set for its time or before, or under way",
  blank: "a blank message shows none of its words again: they are neither stored nor sent",
  said: "a message says what its sender said, in the form that was chosen when it was accepted, until it is blank",
  rendered: "a network gets each word of a message and none of another, in as many parts as were counted",
  secret: "the company's ids of choices reach neither a network nor a page",
  tapped: "a tap names the choice that its message has, and none of a message that is blank, gone or of another chat",
  edited: "of a contact's edits the latest wins, and what says the same changes nothing",
  reacted: "a message has at most one reaction of each side, the latest that the side made",
  acted: "an act that was refused or failed changes nothing, and how far a client has read only grows",
  activity: "the list of chats shows the newest message as it is, and no change of a message moves its times",
  quoted: "a reply is to a message of the chat, and is sent with that message's id at the network",
  read: "reads and lists show what is stored",
  bytes: "the bytes of a file are there, as they were uploaded, while a message shows it or may still name it",
  overwritten: "bytes are never overwritten",
  oneFile: "an idempotency key gives one file, and a file belongs to one message and those that repeat it",
  shownFile:
    "a message shows its file until it is blank or canceled without a place, and one that repeats it shows it too",
  givenBack: "a message that is canceled without a place gives its file back",
  unused: "a file waits for its bytes for ten minutes, and for a message for a day",
  redactedFile: "when a redaction is answered, the bytes are gone that no other message shows",
  sentBytes: "a network gets the bytes of the file",
  left: "after quiet time, the bucket has the files that messages show, and unused ones of the last day",
  events: "each change of a message has its event, once",
  ends: "when faults have stopped, each message ends in time",
  rest: "when all messages have ended, all alarms end",
} as const;
type LifeInvariant = keyof typeof LIFE_INVARIANTS;

export type LifeWorld = World<LifeFault, LifeInvariant>;
