/** Where an organization's objects must be stored. It never changes, and every id has it as one letter. */
export type Jurisdiction = "eu" | "us";

export type IdPrefix =
  | "org"
  | "mbr"
  | "chn"
  | "tpl"
  | "cht"
  | "msg"
  | "key"
  | "whk"
  | "rpl"
  | "lbl"
  | "aud"
  | "med"
  | "note"
  | "psk";

const LETTERS = { eu: "e", us: "u" } as const;
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_LENGTH = 15;
/** Eight digits last until the year 8888. */
const TIME_LENGTH = 8;
const TAIL = /^[geu][0-9A-Za-z]{15}$/;
/** Eight digits are more than an object can hold. */
const MESSAGE_ID = /^msg_[geu][0-9A-Za-z]{15}([1-9A-Za-z][0-9A-Za-z]{0,7})$/;

/** Random base62 text. Skips bytes from 248 on, the last multiple of 62, so that all characters are equally likely. */
export function randomBase62(length: number): string {
  let text = "";
  while (text.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length + 8))) {
      if (byte < 248 && text.length < length) text += ALPHABET[byte % 62];
    }
  }
  return text;
}

/** The last `length` base62 digits of the big-endian number in `bytes`, padded with zeros. */
export function toBase62(bytes: Uint8Array, length: number): string {
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  let text = "";
  for (let digit = 0; digit < length; digit++) {
    text = ALPHABET[Number(value % 62n)] + text;
    value /= 62n;
  }
  return text;
}

/** A new opaque id: `<prefix>_`, the jurisdiction's letter (`g` for none), 15 random base62 characters. */
export function newId(prefix: IdPrefix, jurisdiction: Jurisdiction | null): string {
  return `${prefix}_${jurisdiction ? LETTERS[jurisdiction] : "g"}${randomBase62(RANDOM_LENGTH)}`;
}

/** Like `newId`, but sorts by a time in Unix milliseconds: 8 of the 15 characters are that time. */
export function newSortableId(prefix: IdPrefix, jurisdiction: Jurisdiction | null, time: number): string {
  return `${startOfIds(newId(prefix, jurisdiction), time)}${randomBase62(RANDOM_LENGTH - TIME_LENGTH)}`;
}

/** The time in a sortable id, Unix milliseconds. */
export function timeOfId(id: string): number {
  const start = id.indexOf("_") + 2;
  return fromBase62(id.slice(start, start + TIME_LENGTH));
}

/** What the sortable ids of a time start with, if their prefix and jurisdiction are those of `id`. */
export function startOfIds(id: string, time: number): string {
  return id.slice(0, id.indexOf("_") + 2) + toDigits(time).padStart(TIME_LENGTH, "0");
}

/** A message's id: the id that its sender's call chose, and the message's seq in base62. So a seq needs no index of ids. */
export function messageId(callId: string, seq: number): string {
  return `${callId}${toDigits(seq)}`;
}

/** The seq in a message's id; null if the text is not the id of a message. */
export function seqOf(id: string): number | null {
  const digits = MESSAGE_ID.exec(id)?.[1];
  return digits === undefined ? null : fromBase62(digits);
}

/** Whether `text` has the format of a message's id, with or without a seq. */
export function isMessageId(text: string): boolean {
  return MESSAGE_ID.test(text) || isId("msg", text);
}

/** A positive number in base62, without leading zeros. */
export function toDigits(value: number): string {
  let digits = "";
  for (let rest = value; rest > 0; rest = Math.floor(rest / 62)) digits = ALPHABET[rest % 62] + digits;
  return digits;
}

/** The number that base62 digits stand for. */
export function fromBase62(digits: string): number {
  return [...digits].reduce((value, digit) => value * 62 + ALPHABET.indexOf(digit), 0);
}

/** Whether `text` has the format of an id. */
export function isId(prefix: IdPrefix, text: string): boolean {
  return text.startsWith(`${prefix}_`) && TAIL.test(text.slice(prefix.length + 1));
}

/** The jurisdiction in an id; null for none. */
export function jurisdictionOf(id: string): Jurisdiction | null {
  const letter = id[id.indexOf("_") + 1];
  if (letter === LETTERS.eu) return "eu";
  return letter === LETTERS.us ? "us" : null;
}
