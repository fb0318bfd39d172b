import { expect } from "vitest";
import type { Answer } from "../../support/harness.ts";
import type { chatOnDisk } from "./looks.ts";
import { CAUSE, type Failure, failuresOf, type Step, watchSteps } from "./steps.ts";

/** Something that the service does, in steps of which each may fail. */
export interface Path<Place, Look = Awaited<ReturnType<typeof chatOnDisk>>> {
  /** A place of its own for each try. */
  place(): Promise<Place>;
  /** The path itself; what comes by alarm may throw. */
  act(place: Place): Promise<Answer>;
  /** What is stored, in words that are the same at each place. */
  look(place: Place): Promise<Look>;
  /** Lets what the path has begun come to its end; none of it fails. */
  settle?(place: Place): Promise<unknown>;
  /** What may be left of a path that failed halfway, and that a repetition makes whole: it is told to. */
  between?(left: Look, done: Look): boolean;
  /** What a repetition may be answered, besides 200 and 201. */
  repeated?: number[];
  /** What is stored when it was done twice: where a repetition is another one. */
  twice?: Look;
  /** What must hold after a failure, besides. */
  also?(place: Place, answer: Answer, step: Step): Promise<string | null>;
}

/** How often each owner's steps failed. */
export type Tally = Record<Step["owner"], number> & { failures: number; absorbed: number; names: string[] };

/**
 * Takes the path once undisturbed, and then once for each of its steps and each way in which that can fail. Then what
 * is stored is as before or as after, the client is told a 500 or 503 of shape A with nothing of the cause, and a
 * repetition makes it whole, by objects that still remember the failure.
 */
export async function failEachStep<Place, Look>(path: Path<Place, Look>): Promise<Tally> {
  const undisturbed = await path.place();
  const before = await path.look(undisturbed);
  const watch = await watchSteps();
  const first = await path.act(undisturbed).finally(watch.end);
  expect(isDone(first), first.text).toBe(true);
  await path.settle?.(undisturbed);
  const done = await path.look(undisturbed);
  const tally: Tally = { directory: 0, storage: 0, call: 0, failures: 0, absorbed: 0, names: [] };
  tally.names = [...new Set(watch.steps.map(({ name }) => name))];
  const faults: string[] = [];
  for (const step of watch.steps) {
    for (const failure of failuresOf(step)) {
      tally[step.owner]++;
      tally.failures++;
      const say = (what: string) => faults.push(`${step.name} (${step.nth}), ${failure}: ${what}`);
      try {
        const wasAbsorbed = await failOne(path, { before, done, step, failure }, say);
        tally.absorbed += Number(wasAbsorbed);
      } catch (error) {
        say(`the test broke off: ${error instanceof Error ? error.stack : "no error"}`);
      }
    }
  }
  expect(faults).toEqual([]);
  expect(tally.failures).toBeGreaterThan(0);
  return tally;
}

async function failOne<Place, Look>(
  path: Path<Place, Look>,
  { before, done, step, failure }: { before: Look; done: Look; step: Step; failure: Failure },
  say: (what: string) => void,
): Promise<boolean> {
  const place = await path.place();
  const watch = await watchSteps({ ...step, failure });
  const answer = await path.act(place).finally(watch.end);
  if (!watch.reached()) say("was not reached");
  const wrong = wrongAnswer(answer);
  if (wrong) say(wrong);
  if (failure === "repeatable" && !isDone(answer)) say(`was not repeated: ${answer.status}`);
  await path.settle?.(place);
  const left = await path.look(place);
  if (isDone(answer)) {
    if (!same(left, done)) say(`answered ${answer.status}, and left ${JSON.stringify(left)}`);
  } else if (!same(left, before) && !same(left, done) && !path.between?.(left, done)) {
    say(`half-stored: ${JSON.stringify(left)}`);
  }
  const more = await path.also?.(place, answer, step);
  if (more) say(more);
  const again = await path.act(place);
  if (!isDone(again) && !path.repeated?.includes(again.status)) say(`the repetition was answered ${again.text}`);
  await path.settle?.(place);
  const whole = await path.look(place);
  const wanted = path.twice !== undefined && !same(left, before) ? path.twice : done;
  if (!same(whole, wanted)) say(`the repetition left ${JSON.stringify(whole)}`);
  return isDone(answer);
}

function isDone({ status }: Answer): boolean {
  return status === 200 || status === 201;
}

/** What is wrong with an answer; null where it is one of success, or of our failure as a client may see it. */
function wrongAnswer(answer: Answer): string | null {
  if (answer.text.includes(CAUSE) || JSON.stringify([...answer.headers]).includes(CAUSE)) return "the cause is told";
  if (isDone(answer)) return null;
  const told = JSON.stringify(answer.body);
  const ours = {
    500: '{"message":"Internal error","code":"internal_error"}',
    503: '{"message":"Service unavailable","code":"unavailable"}',
  }[answer.status];
  if (told !== ours) return `answered ${answer.status}: ${answer.text}`;
  if (answer.status === 503 && answer.headers.get("Retry-After") === null) return "a 503 without Retry-After";
  return null;
}

function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
