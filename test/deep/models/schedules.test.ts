import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import fc from "fast-check";
import { test, vi } from "vitest";
import type { ChannelObject } from "../../../src/channels/object/channel-object.ts";
import type { PermitAnswer } from "../../../src/channels/object/permits.ts";
import { ATTEMPT_TIMEOUT_MS } from "../../../src/chats/object/delivery/retry.ts";
import { newId } from "../../../src/ids.ts";
import { asOwner } from "../../support/as-owner.ts";
import { draft } from "../../support/drafts.ts";
import { hold, saw, TIMEOUT_MS } from "./hold.ts";
import { ownClock, START, Stage } from "./stage.ts";
import { StageJudge } from "./stage-judge.ts";
import { FATES, StagedNetwork } from "./staged-network.ts";

/** Longer than a caption: it takes a call of its own. */
const LONG = "x".repeat(1_100);
const CREDENTIALS = { botToken: "1:telegram-bot-token", phoneNumberId: "1", accessToken: "whatsapp-access-token" };

ownClock();

const told = fc.constantFrom("SENT", "DELIVERED", "READ", "FAILED" as const);
const fate = fc.oneof(fc.constant("taken" as const), fc.constantFrom(...FATES));
const permit = fc.constantFrom("go", "go", "go", "pace", "broken", "away" as const);
const sends = fc.array(fc.record({ isLong: fc.boolean(), key: fc.constantFrom(null, null, "a") }), {
  maxLength: 4,
  size: "max",
});

const PLAY = fc.record({
  kind: fc.constantFrom("whatsapp", "telegram" as const),
  clients: fc.tuple(sends, sends),
  contact: fc.array(fc.constantFrom("1", "2"), { maxLength: 2 }),
  network: fc.array(fc.record({ fate, told: fc.array(told, { maxLength: 3 }) }), { maxLength: 16, size: "max" }),
  leaves: fc.array(permit, { maxLength: 12, size: "max" }),
  clock: fc.array(fc.constantFrom(1_000, 31_000, 95_000, 300_000, -300_000), { maxLength: 4 }),
  alarms: fc.nat(3),
  reads: fc.nat(3),
  wakes: fc.nat(2),
  redacts: fc.array(fc.nat(8), { maxLength: 1 }),
  losses: fc.nat(2),
});
type Play = typeof PLAY extends fc.Arbitrary<infer P> ? P : never;

test(
  "in whatever order things happen at once, no message is lost, sent out of turn or sent in vain, and the alarm stands",
  async () => {
    let channel: object = {};
    let network: StagedNetwork | undefined;
    let organization: object = {};
    vi.spyOn(env.CHANNELS, "getByName").mockImplementation(() => channel as never);
    vi.spyOn(env.ORGANIZATIONS, "getByName").mockImplementation(() => organization as never);
    vi.stubGlobal("fetch", (_url: string, { body, signal }: { body: string; signal: AbortSignal }) =>
      network?.fetch(body, signal),
    );
    await hold("schedules", { few: 60, many: 2_000 }, () =>
      fc.asyncProperty(fc.scheduler(), PLAY, async (scheduler, play) => {
        vi.clearAllTimers();
        vi.setSystemTime(START);
        await runInDurableObject(env.CHATS.getByName(newId("cht", null)), async (_object, state) => {
          const stage = new Stage(state, scheduler, play.kind);
          network = new StagedNetwork(stage, play.kind, play.network);
          const leaves = [...play.leaves];
          channel = stagedChannel(stage, leaves);
          organization = stage.organization();
          const judge = new StageJudge(stage, network);
          enter(stage, network, judge, play);
          await rest(stage, judge);
          network.script = [];
          leaves.length = 0;
          // All goes well from here on: by its alarm alone the chat comes to its end, and rests.
          await stage.drain(20, () => rest(stage, judge));
          judge.end();
        });
      }),
    );
  },
  TIMEOUT_MS,
);

/** All that happens to the chat, each actor in its own order. */
function enter(stage: Stage, network: StagedNetwork, judge: StageJudge, play: Play): void {
  const { organizationId } = stage.identity;
  let numbers = 0;
  for (const client of play.clients) {
    stage.begin(
      client.map(({ isLong, key }) => {
        const number = ++numbers;
        const fields = {
          idempotencyHash: key,
          fingerprint: key && "f",
          ...(isLong && { type: "IMAGE" as const, mediaUrl: `https://media.test/~${number}~` }),
        };
        const message = draft(`~${number}~${isLong ? LONG : ""}`, fields);
        network.sent.set(number, { id: message.id, isLong });
        return [
          `send ${number}`,
          async () => {
            const answers = await stage.chat.send(asOwner(organizationId), [message]);
            judge.acknowledged(answers, key);
          },
        ];
      }),
    );
  }
  stage.begin(
    play.contact.map((dedupe) => [
      `receive ${dedupe}`,
      async () => {
        const text = { dedupe, type: "TEXT" as const, content: "Hi", media: null, origin: null, addresses: [] };
        await stage.chat.receive(asOwner(organizationId), { ...text, id: newId("msg", null) });
      },
    ]),
  );
  stage.times(play.alarms, "the alarm rings", () => void stage.watch(stage.ring()));
  stage.times(play.reads, "list", () => judge.read());
  stage.times(play.wakes, "the channel works", () => stage.chat.wake());
  stage.times(play.losses, "the instance is lost", () => {
    saw("an instance lost");
    stage.lose();
  });
  stage.begin(play.clock.map((ms) => [`${ms} ms pass`, () => stage.pass(ms)]));
  stage.begin(
    play.redacts.map((nth) => [
      `redact ${nth}`,
      async () => {
        const message = stage.messages()[nth];
        if (message) await judge.redact(message.id);
      },
    ]),
  );
}

/** A channel that lets its chats wait. */
function stagedChannel(stage: Stage, leaves: ("go" | "pace" | "broken" | "away")[]): object {
  const told = (label: string) => () => stage.turn(label);
  return {
    permit: async (): Promise<PermitAnswer> => {
      await stage.turn("a permit is asked for");
      const permit = leaves.shift() ?? "go";
      saw(`permit: ${permit}`);
      const now = Date.now();
      await stage.turn(`permit is given: ${permit}`);
      if (permit === "away") throw new Error("internal error; reference = 0123456789abcdef");
      if (permit === "pace") return { outcome: "later", at: now + 1_500, broken: null };
      if (permit === "broken")
        return { outcome: "later", at: now + 300_000, broken: { reason: "Bad token", since: now } };
      return {
        outcome: "granted",
        credentials: CREDENTIALS,
        brokenSince: null,
        provenEpoch: 0,
        probe: null,
        epoch: 0,
        trial: null,
      };
    },
    slowDown: told("the channel is told to slow down"),
    reportProbe: told("the channel is told of a probe"),
    reportBroken: told("the channel is told that it broke"),
  } satisfies Partial<Record<keyof ChannelObject, unknown>>;
}

/** Lets happen what is to happen, until nothing is under way: a call without an answer ends by its deadline. */
async function rest(stage: Stage, judge: StageJudge): Promise<void> {
  await stage.play(() => judge.look());
  while (vi.getTimerCount() > 0) {
    stage.pass(ATTEMPT_TIMEOUT_MS);
    await stage.play(() => judge.look());
  }
  await judge.rest();
}
