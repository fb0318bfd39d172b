import { expect, test } from "vitest";
import type { PermitAnswer, PermitRequest, ProbeReport } from "../../../../src/channels/object/permits.ts";
import { type ActingChat, Acts } from "../../../../src/chats/object/acts.ts";
import type { ActOutcome, NetworkAct } from "../../../../src/model/network.ts";
import { FakeClock, settle } from "../../platform/fake-clock.ts";

const GRANTED: PermitAnswer = {
  outcome: "granted",
  credentials: {},
  brokenSince: null,
  provenEpoch: 0,
  probe: null,
  trial: 7,
  epoch: 0,
};
const MESSAGE = { id: "msg_g1", seq: 1, status: "RECEIVED" };

/** The acts of a chat with one message of the contact, a channel that answers with `permits` in turn, and a network. */
function acting(
  permits: (PermitAnswer | Promise<PermitAnswer>)[],
  network: (act: NetworkAct, signal: AbortSignal) => Promise<ActOutcome> = async () => ({ outcome: "done" }),
) {
  const clock = new FakeClock();
  const asked: PermitRequest[] = [];
  const told: unknown[] = [];
  const made: NetworkAct[] = [];
  const reactions: (string | null)[] = [];
  const state = { exists: true };
  const channel = {
    async permit(request: PermitRequest) {
      asked.push(request);
      return permits.shift() ?? GRANTED;
    },
    reportBroken: async (report: unknown) => void told.push(["broken", report]),
    reportProbe: async ({ works, isUnused }: ProbeReport) => void told.push(["probe", works, isUnused]),
    slowDown: async (ms: number) => void told.push(["slow", ms]),
  };
  const chat: ActingChat = {
    parts: {
      env: { CHANNELS: { getByName: () => channel } } as unknown as Env,
      logger: { log() {}, warn() {}, error() {} },
    },
    identity: { chatId: "cht_g1", channelId: "chn_g1" } as ActingChat["identity"],
    kind: "telegram",
    adapter: {
      acts: {
        kinds: ["react", "read", "typing"],
        make(act, _target, _credentials, _network, signal) {
          made.push(act);
          return network(act, signal);
        },
      },
    },
    exists: () => state.exists,
  };
  const row = { seq: 1, doc: JSON.stringify(MESSAGE), redactedAt: null };
  const values = new Map<string, unknown>();
  const acts = new Acts({
    storage: {
      kv: {
        get: <T>(key: string) => values.get(key) as T | undefined,
        put: (key, value) => void values.set(key, value),
      },
    },
    log: {
      byId: (id: string) => (id === MESSAGE.id ? row : null),
      networkIds: { of: () => "in1", newestInbound: () => "in1" },
      newest: () => ({ seq: 1, at: 0, queued: 0 }),
      bytes: 0,
    } as never,
    clock,
    scheduled: { find: () => null },
    editsAndReactions: {
      setReaction(_seq: number, emoji: string | null) {
        reactions.push(emoji);
        return MESSAGE as never;
      },
    },
    visitors: { isOnline: false, showRead: () => false, showTyping: () => false },
    report: { stateChanged() {} },
    adoption: { identity: () => (state.exists ? chat.identity : undefined) },
    contact: {
      current: () => "49151",
      topic: undefined,
      follow: ({ address }) => void told.push(["moved", [address]]),
    },
    typing: { announce() {} },
    networkChat: () => chat,
  });
  return { acts, clock, asked, told, made, reactions, state };
}

const later = (at: number, broken = false): PermitAnswer => ({
  outcome: "later",
  at,
  broken: broken ? { reason: "190", since: 0 } : null,
});

test("an act asks for a start within 3 seconds, waits for it, and asks again with it", async () => {
  const clock = new FakeClock();
  const { acts, asked, made, clock: own } = acting([later(clock.now() + 2_000)]);
  const answer = acts.react(MESSAGE.id, "👍");
  await own.pass(2_000);
  expect(await answer).toMatchObject({ outcome: "ok" });
  expect(asked.map(({ reservedAt, withinMs }) => [reservedAt, withinMs])).toEqual([
    [null, 3_000],
    [clock.now() + 2_000, 1_000],
  ]);
  expect(made).toHaveLength(1);
});

test("a start too far ahead and a broken channel are told, and nobody is called", async () => {
  const { clock, acts, made, reactions } = acting([later(new FakeClock().now() + 9_100), later(0, true)]);
  expect(clock.now()).toBe(new FakeClock().now());
  expect(await acts.react(MESSAGE.id, "👍")).toEqual({ outcome: "away", retryAfter: 10 });
  expect(await acts.react(MESSAGE.id, "👍")).toEqual({ outcome: "away", retryAfter: 1 });
  expect([made, reactions]).toEqual([[], []]);
});

test("a network that never answers ends the act after 10 seconds, and its trial too", async () => {
  const { acts, clock, told, reactions } = acting([], () => new Promise(() => {}));
  const answer = acts.react(MESSAGE.id, "👍");
  await clock.pass(11_000);
  expect(await answer).toEqual({ outcome: "away", retryAfter: 1 });
  expect([told, reactions]).toEqual([[["probe", false, undefined]], []]);
});

test.each<[ActOutcome, unknown, unknown[]]>([
  [{ outcome: "done" }, { outcome: "ok", shown: true }, [["probe", true, undefined]]],
  [{ outcome: "not_shown" }, { outcome: "ok", shown: false }, [["probe", false, true]]],
  [
    { outcome: "failed", code: "network_400", message: "No", works: true },
    {
      outcome: "refused",
      code: "refused_by_network",
      text: "The network rejected the request: No. Change it before you try again",
    },
    [["probe", true, undefined]],
  ],
  [
    { outcome: "retry", code: "network_429", message: "Slow", afterMs: 4_000, wholeChannel: true },
    { outcome: "away", retryAfter: 4 },
    [
      ["slow", 4_000],
      ["probe", false, undefined],
    ],
  ],
  [{ outcome: "unknown", message: "Lost" }, { outcome: "away", retryAfter: 1 }, [["probe", false, undefined]]],
  [{ outcome: "channel_broken", reason: "190" }, { outcome: "away", retryAfter: 60 }, [["probe", false, undefined]]],
  [
    { outcome: "moved", address: "-100" },
    { outcome: "away", retryAfter: 1 },
    [
      ["probe", true, undefined],
      ["moved", ["-100"]],
    ],
  ],
])("%j is answered and reported", async (outcome, answer, reports) => {
  const { acts, told } = acting([], async () => outcome);
  expect(await acts.showTyping({ type: "key", id: "key_g1", name: "Bot" })).toEqual(answer);
  expect(told).toEqual(reports);
});

test("acts wait for each other, and the eleventh that would wait is sent away", async () => {
  const { promise, resolve } = Promise.withResolvers<ActOutcome>();
  const { acts, made } = acting([], () => promise);
  const answers = Array.from({ length: 11 }, (_, index) => acts.react(MESSAGE.id, index % 2 ? "👍" : "🎉"));
  expect(await answers[10]).toEqual({ outcome: "away", retryAfter: 1 });
  expect(made.length).toBeLessThanOrEqual(1);
  resolve({ outcome: "done" });
  expect((await Promise.all(answers.slice(0, 10))).every(({ outcome }) => outcome === "ok")).toBe(true);
  expect(made).toHaveLength(10);
});

test("a chat that was deleted meanwhile stores nothing and returns its permit", async () => {
  const { promise, resolve } = Promise.withResolvers<PermitAnswer>();
  const { acts, state, told, made, reactions } = acting([promise]);
  const answer = acts.react(MESSAGE.id, "👍");
  await settle();
  state.exists = false;
  resolve(GRANTED);
  expect(await answer).toMatchObject({ outcome: "away" });
  expect([made, reactions, told]).toEqual([[], [], [["probe", false, true]]]);
  expect(acts.readUpTo()).toBeNull();
});

test("an act that waited while its chat was deleted reads nothing of it", async () => {
  const { promise, resolve } = Promise.withResolvers<ActOutcome>();
  const { acts, state, made } = acting([], () => promise);
  const first = acts.react(MESSAGE.id, "👍");
  const second = acts.react(MESSAGE.id, "🎉");
  await settle();
  state.exists = false;
  resolve({ outcome: "done" });
  expect(await first).toEqual({ outcome: "no_message" });
  expect((await second).outcome).not.toBe("ok");
  expect(made).toHaveLength(1);
});
