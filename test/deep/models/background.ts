import { runInDurableObject } from "cloudflare:test";
import { onTestFinished } from "vitest";

/**
 * Counts what objects still do after they have answered, from here to the end of the test: for instances that come to be
 * after this call. @param any an object's stub
 * @returns what waits until nothing is under way
 */
export async function watchBackground(any: DurableObjectStub): Promise<() => Promise<void>> {
  const states: DurableObjectState = await runInDurableObject(any, (_object, state) => Object.getPrototypeOf(state));
  const waitUntil: (this: DurableObjectState, work: Promise<unknown>) => void = Reflect.get(states, "waitUntil");
  let underWay = 0;
  states.waitUntil = function watched(this: DurableObjectState, work: Promise<unknown>) {
    underWay++;
    const over = () => {
      underWay--;
    };
    work.then(over, over);
    return waitUntil.call(this, work);
  };
  onTestFinished(() => {
    states.waitUntil = waitUntil;
  });
  return async function settled() {
    while (underWay > 0) await scheduler.wait(0);
  };
}
