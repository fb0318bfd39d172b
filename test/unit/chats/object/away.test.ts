import { beforeEach, expect, test } from "vitest";
import { AwayAnswers } from "../../../../src/chats/object/away.ts";
import type { Marketing } from "../../../../src/model/chat.ts";

const HOUR = 3_600_000;
const START = 1_790_000_000_000;
const away = { text: "Away", until: START + 48 * HOUR };

let now: number;
let bot: number | null | undefined;
let marketing: Marketing | null;
let unansweredSince: number | null;
const stored = new Map<string, unknown>();
const kv = {
  get: (key: string) => stored.get(key),
  put: (key: string, value: unknown) => void stored.set(key, value),
} as unknown as SyncKvStorage;

const answers = new AwayAnswers({
  storage: { kv },
  clock: { now: () => now } as never,
  consent: { marketing: () => marketing },
  handover: {
    get bot() {
      return bot;
    },
  },
  report: { unansweredSince: () => unansweredSince },
});

beforeEach(() => {
  [now, bot, marketing, unansweredSince] = [START, undefined, null, null];
  stored.clear();
});

test("a message outside of the hours is answered, until the hours begin", () => {
  expect(answers.textFor({ away })).toBe("Away");
  now = away.until - 1;
  expect(answers.textFor({ away })).toBe("Away");
  now = away.until;
  expect(answers.textFor({ away })).toBeNull();
  expect(answers.textFor({ away: { ...away, until: null } })).toBe("Away");
  expect(answers.textFor({})).toBeNull();
});

test("a stop word, a group and the network's own agent are not answered", () => {
  expect(answers.textFor({ away, isStop: false, extra: {} })).toBe("Away");
  expect(answers.textFor({ away, isStop: true })).toBeNull();
  expect(answers.textFor({ away, extra: { author: { id: "5", name: null } } })).toBeNull();
  expect(answers.textFor({ away, extra: { standby: true } })).toBeNull();
});

test.each([
  [undefined, "Away"],
  [null, "Away"],
  [0, null],
  [3, null],
])("with the bot %s the answer is %s", (version, text) => {
  bot = version;
  expect(answers.textFor({ away })).toBe(text);
});

test("a contact who opted out is not answered, one who came back is", () => {
  marketing = { optedOut: true, at: "2026-09-21T00:00:00Z", by: "contact" };
  expect(answers.textFor({ away })).toBeNull();
  marketing = { ...marketing, optedOut: false };
  expect(answers.textFor({ away })).toBe("Away");
});

test.each([
  // The wait began with the message that was answered, or before it.
  [0, 13, null],
  [-1, 13, null],
  // Another run, too soon and late enough.
  [1, 12, "Away"],
  [1, 11.99, null],
  [null, 11.99, null],
  [null, 12, "Away"],
])(
  "if the contact waits since %s hours after the away message, the answer %s hours after it is %s",
  (since, at, text) => {
    answers.sent(START);
    unansweredSince = since === null ? null : START + since * HOUR;
    now = START + at * HOUR;
    expect(answers.textFor({ away })).toBe(text);
  },
);

test("a clock that was set back lets no second answer out", () => {
  answers.sent(START);
  now = START - HOUR;
  expect(answers.textFor({ away })).toBeNull();
});
