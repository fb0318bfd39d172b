import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import type { Answer } from "../../support/harness.ts";
import { Random } from "../../support/random.ts";
import { handoverPlace } from "./handover-fixtures.ts";
import { crash, pass, stopTheClock } from "./object/delivery/conversation.ts";

/** `WALKS=400` in the environment makes 10,000 races, and `SEED=7` those of one chat. */
const SEEDS = env.TEST_SEED
  ? [Number(env.TEST_SEED)]
  : Array.from({ length: Number(env.TEST_WALKS || 6) }, (_, n) => n + 1);
const RACES = 25;

stopTheClock();

/** What a chat's events say happened: a message by its text, or the new handler. */
type Step = { said: string } | { to: string };

test.each(SEEDS)(
  "no message of the bot stands behind the take-over that it raced with, and each is stored once: seed %i",
  async (seed) => {
    const random = new Random(seed);
    const place = await handoverPlace();
    const { api, bot, ann, chatId, handOver, says, object, shown } = place;
    const path = `/chats/${chatId}/messages`;
    let keys = 0;
    /** Repeats a call whose answer was lost, as a client does. */
    const until = async (call: (headers: object) => Promise<Answer>): Promise<Answer> => {
      const headers = { "Idempotency-Key": `race-${seed}-${++keys}` };
      for (let tries = 1; ; tries++) {
        const answer = await call(headers);
        if (answer.status < 500 || tries === 10) return answer;
      }
    };
    const accepted: string[] = [];
    const sends = async (as: typeof api, said: string, more: object = {}): Promise<void> => {
      for (let turns = random.between(0, 3); turns > 0; turns--) await Promise.resolve();
      const answer = await until((headers) => as("POST", path, { content: said, ...more }, { ...headers }));
      if (answer.status === 201) accepted.push(said);
      else expect({ said, code: answer.body.code }, answer.text).toEqual({ said, code: "handed_over" });
    };
    const takeOver = (n: number): Promise<void> => {
      if (random.next() < 0.5) return sends(api, `person ${n}`, { senderId: ann });
      const message = random.next() < 0.5 ? { content: `parting ${n}` } : null;
      if (message) accepted.push(message.content);
      return until((headers) => handOver({ to: "people", message }, api, { ...headers })).then((answer) =>
        expect(answer.status, answer.text).toBe(200),
      );
    };
    for (let n = 0; n < RACES; n++) {
      if (random.next() < 0.3) await says();
      const acts = [
        () => takeOver(n),
        ...Array.from({ length: random.between(1, 4) }, (_, k) => () => sends(bot, `bot ${n}.${k}`)),
        ...(random.next() < 0.3 ? [() => crash(object())] : []),
      ];
      await Promise.all(random.shuffle(acts).map((act) => act()));
      expect((await shown()).handler, `after race ${n}`).toBe("people");
      const back = await until((headers) => handOver({ to: "bot" }, api, { ...headers }));
      expect(back.status, back.text).toBe(200);
      pass(100);
    }
    const steps = await stepsOf(place);
    let handler = "bot";
    for (const step of steps) {
      if ("to" in step) handler = step.to;
      else if (step.said.startsWith("bot")) expect({ ...step, handler }).toEqual({ ...step, handler: "bot" });
    }
    const said = steps.flatMap((step) => ("said" in step && step.said !== "Hi" ? [step.said] : []));
    expect(said.toSorted()).toEqual(accepted.toSorted());
  },
);

async function stepsOf({ api, chatId }: Awaited<ReturnType<typeof handoverPlace>>): Promise<Step[]> {
  const steps: Step[] = [];
  for (let after = 0, hasMore = true; hasMore; ) {
    const { body } = await api("GET", `/chats/${chatId}/events?limit=100&after=${after}`);
    for (const { number, type, data } of body.events) {
      if (type === "chat.handover") steps.push({ to: data.to });
      if (data.message && type.endsWith("d")) steps.push({ said: data.message.content });
      after = number;
    }
    ({ hasMore } = body);
  }
  return steps;
}
