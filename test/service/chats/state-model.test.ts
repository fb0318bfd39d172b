import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import type { WorkState } from "../../../src/model/work-state.ts";
import { breakObjects } from "../../support/faults.ts";
import { created } from "../../support/harness.ts";
import { Random } from "../../support/random.ts";
import { stopTheClock } from "./object/delivery/conversation.ts";
import { inFuture, MINUTE } from "./object/scheduled/fixtures.ts";
import { statePlace } from "./state-fixtures.ts";

const SEEDS = env.TEST_SEED ? [Number(env.TEST_SEED)] : [1, 2, 3, 4];
const ACTS = 40;
const SNOOZES = [1_000, MINUTE, 10 * MINUTE, 3 * 60 * MINUTE];

stopTheClock();

/** What a chat must be: its state, and the messages of the contact. */
class Model {
  state: WorkState = "open";
  snoozedUntil: number | null = null;
  unansweredSince: string | null = null;
  /** When the contact wrote what no message answers. */
  asked: string[] = [];
  /** What its events say, in order. */
  readonly events: { state: WorkState; snoozedUntil: string | null; isByKey: boolean }[] = [];

  become(state: WorkState, snoozedUntil: number | null, isByKey: boolean): void {
    if (state === this.state && snoozedUntil === this.snoozedUntil) return;
    Object.assign(this, { state, snoozedUntil });
    if (state === "closed") this.unansweredSince = null;
    this.events.push({ state, snoozedUntil: this.until, isByKey });
  }

  get until(): string | null {
    return this.snoozedUntil === null ? null : new Date(this.snoozedUntil).toISOString();
  }

  get shown() {
    return { state: this.state, snoozedUntil: this.until, unansweredSince: this.unansweredSince };
  }
}

test.each(SEEDS)(
  "whatever happens, a snooze ends once, never early and never lost, and the list shows what the chat is: seed %i",
  async (seed) => {
    const random = new Random(seed);
    const place = await statePlace();
    const { api, chatId, set, says, post, shown, listed, states, ringIn, evict } = place;
    const model = new Model();
    /** A change whose report may not arrive: it stays. */
    const change = async (call: () => ReturnType<typeof set>): Promise<void> => {
      const isLost = random.next() < 0.25;
      if (isLost) breakObjects("ORGANIZATIONS", "report");
      // A state that the organization has already is reported to nobody.
      expect(isLost ? [200, 503] : [200]).toContain((await call()).status);
      if (isLost && random.next() < 0.7) await evict();
      vi.restoreAllMocks();
    };
    const acts: (() => Promise<void>)[] = [
      async () => {
        const snoozedUntil = inFuture(random.pick(SNOOZES));
        await change(() => set({ state: "snoozed", snoozedUntil }));
        model.become("snoozed", Date.parse(snoozedUntil), true);
      },
      async () => {
        await change(() => set({ state: "closed" }));
        model.become("closed", null, true);
      },
      async () => {
        await change(() => set({ state: "open" }));
        model.become("open", null, true);
      },
      async () => {
        const { createdAt } = await says();
        model.asked.push(createdAt);
        model.unansweredSince ??= createdAt;
        model.become("open", null, false);
      },
      async () => {
        created(await post());
        model.asked = [];
        model.unansweredSince = null;
      },
      async () => {
        const answer = await api("DELETE", `/chats/${chatId}/answered`);
        expect(answer.status).toBe(model.asked.length > 0 ? 200 : 409);
        const [first] = model.asked;
        if (first === undefined) return;
        model.unansweredSince = first;
        model.become("open", null, true);
      },
      async () => {
        expect((await api("POST", `/chats/${chatId}/answered`)).status).toBe(200);
        model.unansweredSince = null;
      },
      async () => {
        await shown();
        await evict();
      },
      async () => {
        await ringIn(random.pick([500, 2_000, MINUTE, 10 * MINUTE]));
      },
    ];
    for (let n = 0; n < ACTS; n++) {
      await random.pick(acts)();
      // The act may take time, in which nothing rings but what the test lets ring.
      if (model.snoozedUntil !== null && model.snoozedUntil <= Date.now()) {
        await ringIn(0);
        model.become("open", null, false);
      }
      expect(await shown(), `after act ${n}`).toMatchObject(model.shown);
      await ringIn(random.pick([0, 300, 5_000]));
      if (model.snoozedUntil !== null && model.snoozedUntil <= Date.now()) model.become("open", null, false);
      expect(await shown(), `at rest after act ${n}`).toMatchObject(model.shown);
    }
    // Reports that failed are repeated after ten minutes at the latest.
    await ringIn(11 * MINUTE);
    if (model.snoozedUntil !== null && model.snoozedUntil <= Date.now()) model.become("open", null, false);
    expect(await listed()).toMatchObject(model.shown);
    expect(await shown()).toMatchObject(model.shown);
    const said = (await states()) as { state: WorkState; snoozedUntil: string | null; by: object | null }[];
    const told = said.map(({ state, snoozedUntil, by }) => ({ state, snoozedUntil, isByKey: by !== null }));
    expect(told).toEqual(model.events);
  },
);
