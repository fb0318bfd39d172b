import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import type { ChannelObject } from "../../../src/channels/object/channel-object.ts";
import type { SocketPolicy } from "../../../src/channels/web/socket-policy.ts";
import { newId } from "../../../src/ids.ts";
import { asOwner } from "../../support/as-owner.ts";
import { draft } from "../../support/drafts.ts";
import { hold, saw, TIMEOUT_MS } from "./hold.ts";
import { ownClock, START, Stage } from "./stage.ts";
import { StageJudge } from "./stage-judge.ts";
import { nameOf, StagedTab } from "./staged-tab.ts";

ownClock();

/** A page's frames: a message under one of few ids of its own, so that it is sent again, or an acknowledgment. */
const frames = fc.array(fc.constantFrom("1", "2", "delivered", "read", "connect" as const), {
  maxLength: 6,
  size: "max",
});

const PLAY = fc.record({
  tabs: fc.tuple(frames, frames),
  sends: fc.tuple(fc.nat(3), fc.nat(2)),
  clock: fc.array(fc.constantFrom(1_000, 11_000, 60_000, -300_000), { maxLength: 4 }),
  terms: fc.array(fc.boolean(), { maxLength: 4 }),
  alarms: fc.nat(2),
  reads: fc.nat(3),
  losses: fc.nat(1),
});
type Play = typeof PLAY extends fc.Arbitrary<infer P> ? P : never;

test(
  "in whatever order pages and the company write, each message is stored once, and each page is told all of it in order",
  async () => {
    let channel: object = {};
    let stage: Stage | undefined;
    let tabs: StagedTab[] = [];
    let organization: object = {};
    vi.spyOn(env.CHANNELS, "getByName").mockImplementation(() => channel as never);
    vi.spyOn(env.ORGANIZATIONS, "getByName").mockImplementation(() => organization as never);
    // A walk over many messages lets others in between its steps.
    vi.stubGlobal("scheduler", { wait: () => stage?.turn("an acknowledgment goes on") });
    const send: (this: WebSocket, data: string | ArrayBuffer | ArrayBufferView) => void = Reflect.get(
      WebSocket.prototype,
      "send",
    );
    vi.spyOn(WebSocket.prototype, "send").mockImplementation(function hear(this: WebSocket, data) {
      const tab = tabs.find(({ name }) => name === nameOf(this));
      // Vitest's own goes its way.
      if (!tab) return send.call(this, data);
      if (this.readyState !== WebSocket.OPEN) throw new TypeError("The socket is closed");
      void stage?.watch(Promise.try(() => tab.hear(JSON.parse(data as string))));
    });
    await hold("web-schedules", { few: 60, many: 2_000 }, () =>
      fc.asyncProperty(fc.scheduler(), PLAY, async (scheduler, play) => {
        vi.clearAllTimers();
        vi.setSystemTime(START);
        await runInDurableObject(env.CHATS.getByName(newId("cht", null)), async (_object, state) => {
          const staged = new Stage(state, scheduler);
          stage = staged;
          tabs = play.tabs.map((_, nth) => new StagedTab(staged, `tab ${nth + 1}`));
          channel = stagedChannel(staged, [...play.terms]);
          organization = staged.organization();
          const judge = new StageJudge(staged);
          enter(staged, judge, tabs, play);
          await staged.play(() => judge.look());
          expectStoredOnce(staged, tabs);
          for (const tab of tabs) tab.expectWhole();
          await staged.drain(5, () => staged.play(() => judge.look()));
          for (const tab of tabs) tab.close();
        });
      }),
    );
  },
  TIMEOUT_MS,
);

function enter(stage: Stage, judge: StageJudge, tabs: StagedTab[], play: Play): void {
  const { organizationId } = stage.identity;
  for (const sends of play.sends) {
    stage.times(sends, "the company writes", async () => {
      judge.acknowledged(await stage.chat.send(asOwner(organizationId), [draft("Hello")]));
    });
  }
  for (const [nth, tab] of tabs.entries()) {
    const steps = (play.tabs[nth] ?? []).map((frame): [string, () => unknown] => {
      if (frame === "connect") return [`${tab.name} connects`, () => tab.connect()];
      if (frame === "delivered" || frame === "read") return [`${tab.name}: ${frame}`, () => tab.acknowledge(frame)];
      const id = `${tab.name}, ${frame}`;
      return [`${tab.name} writes ${frame}`, () => tab.say({ type: "message", id, content: id })];
    });
    stage.begin([[`${tab.name} connects`, () => tab.connect()], ...steps]);
  }
  stage.times(play.alarms, "the alarm rings", () => void stage.watch(stage.ring()));
  stage.times(play.reads, "list", () => judge.read());
  stage.times(play.losses, "the instance is lost", () => {
    saw("an instance lost");
    // Amid its work: one that sleeps keeps them.
    for (const socket of stage.sockets()) socket.close();
    stage.lose();
  });
  stage.begin(play.clock.map((ms) => [`${ms} ms pass`, () => stage.pass(ms)]));
}

/** A channel that now and then does not say whom it lets in. */
function stagedChannel(stage: Stage, isAway: boolean[]): object {
  return {
    socketPolicy: async (): Promise<SocketPolicy> => {
      await stage.turn("the policy is read");
      if (isAway.shift()) throw new Error("internal error; reference = 0123456789abcdef");
      return { allowedOrigins: [], fingerprints: [] };
    },
  } satisfies Partial<Record<keyof ChannelObject, unknown>>;
}

function expectStoredOnce(stage: Stage, tabs: StagedTab[]): void {
  const inbound = stage.messages().filter(({ direction }) => direction === "INBOUND");
  expect(new Set(inbound.map(({ content }) => content)).size).toBe(inbound.length);
  for (const [id, seq] of tabs.flatMap((tab) => [...tab.stored])) {
    expect(inbound.find(({ content }) => content === id)?.seq, `the number of ${id}`).toBe(seq);
  }
}
