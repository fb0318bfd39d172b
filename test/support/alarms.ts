import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import type * as Worker from "../../src/index.ts";
import { ringSoon } from "./timers.ts";
import { until } from "./until.ts";

// biome-ignore lint/suspicious/noExplicitAny: a mixin's constructor has this type
type ObjectClass = new (...given: any[]) => { alarm(...given: unknown[]): Promise<void> };

/** What an object does now: its alarms, and what it told the platform to wait for. An object that is lost does nothing. */
const doing = new WeakMap<object, { alarms: number; work: Set<Promise<unknown>> }>();

/** The Worker with objects whose work can be awaited. */
export function watched(worker: typeof Worker): typeof Worker {
  return {
    ...worker,
    ChannelObject: withWatchedWork(worker.ChannelObject),
    ChatObject: withWatchedWork(worker.ChatObject),
    KeyObject: withWatchedWork(worker.KeyObject),
    OrganizationObject: withWatchedWork(worker.OrganizationObject),
    WebhookObject: withWatchedWork(worker.WebhookObject),
  };
}

function withWatchedWork<T extends ObjectClass>(objectClass: T): T {
  return class extends objectClass {
    constructor(...[ctx, ...rest]: ConstructorParameters<ObjectClass>) {
      const now = { alarms: 0, work: new Set<Promise<unknown>>() };
      const waitUntil = ctx.waitUntil.bind(ctx);
      ctx.waitUntil = (promise: Promise<unknown>) => {
        const ended = () => now.work.delete(promise);
        now.work.add(promise);
        promise.then(ended, ended);
        waitUntil(promise);
      };
      super(ctx, ...rest);
      doing.set(this, now);
    }

    override async alarm(...given: unknown[]): Promise<void> {
      const now = doing.get(this);
      if (now) now.alarms++;
      try {
        await super.alarm(...given);
      } finally {
        if (now) now.alarms--;
      }
    }
  };
}

/** How long an alarm waits for its work. */
const RING_MS = 5_000;

/** Until the end of the test, an alarm waits for its work no longer than a moment: the test holds that work. */
export const hurryAlarms = () => ringSoon(RING_MS);

/** The maximum number of alarms in a row, each due at once: more are a loop. */
const MAX_ROUNDS = 100;

/**
 * Lets an object do all that is due. An alarm that the platform already runs is awaited first: the object has no alarm
 * then, and a test would look before anything is done. An alarm also ends after five seconds without its work, so the
 * work is awaited too. What became due meanwhile, such as a change during a write, sets an alarm for now: it is run as
 * well.
 * @returns whether there was an alarm
 */
export async function runAlarm(object: DurableObjectStub): Promise<boolean> {
  const ran = await runOneAlarm(object);
  for (let round = 0; await isAlarmDue(object); round++) {
    if (round === MAX_ROUNDS) throw new Error(`After ${MAX_ROUNDS} alarms the object still has work that is due`);
    await runOneAlarm(object);
  }
  return ran;
}

/** Like `runAlarm`, but only one alarm and its work, for a test of work that takes several. */
export async function runOneAlarm(object: DurableObjectStub): Promise<boolean> {
  const ran = await ringAlarm(object);
  await workIsDone(object);
  return ran;
}

function isAlarmDue(object: DurableObjectStub): Promise<boolean> {
  return runInDurableObject(object, async (_object, { storage }) => {
    const at = await storage.getAlarm();
    return at !== null && at <= Date.now();
  });
}

/** Resolves when an object has nothing under way: no alarm runs, and what it told the platform to wait for is over. */
export async function workIsDone(object: DurableObjectStub): Promise<void> {
  await until(
    "the object's work is done",
    () => doneBy(object),
    ({ alarms, work }) => alarms + work === 0,
  );
}

/** Like `runAlarm`, but only until the alarm ends: five seconds if its work hangs. */
export async function ringAlarm(object: DurableObjectStub): Promise<boolean> {
  const ranByItself = await ownAlarmIsOver(object);
  const ran = await runDurableObjectAlarm(object);
  return ran || ranByItself;
}

/**
 * When an object's alarm rings, Unix milliseconds; null if none is set. An alarm that the platform runs is awaited
 * first: it sets the next one only at its end.
 */
export async function alarmAt(object: DurableObjectStub): Promise<number | null> {
  await ownAlarmIsOver(object);
  return runInDurableObject(object, (_object, { storage }) => storage.getAlarm());
}

/** @returns whether there was one */
async function ownAlarmIsOver(object: DurableObjectStub): Promise<boolean> {
  if ((await doneBy(object)).alarms === 0) return false;
  await until(
    "the object's own alarm is over",
    () => doneBy(object),
    ({ alarms }) => alarms === 0,
  );
  return true;
}

function doneBy(object: DurableObjectStub): Promise<{ alarms: number; work: number }> {
  return runInDurableObject(object, (instance) => {
    const { alarms = 0, work } = doing.get(instance) ?? {};
    return { alarms, work: work?.size ?? 0 };
  });
}
