import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { shareStream } from "../../src/web/console/inbox/shared-stream.ts";

let tabs: AbortController[] = [];

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  vi.stubGlobal("document", { visibilityState: "visible" });
});
afterEach(() => {
  for (const tab of tabs) tab.abort();
  tabs = [];
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

let names = 0;
const newName = () => `stream ${++names}`;

/** A tab that notes what it hears. While it leads, `spread` tells the others. */
function openTab(name: string) {
  const tab = new AbortController();
  tabs.push(tab);
  const heard: string[] = [];
  const state = { heard, isLeading: false, spread: (() => {}) as (news: string) => void, close: () => tab.abort() };
  void shareStream<string>({
    name,
    signal: tab.signal,
    greeting: () => "hello",
    take: (news) => void heard.push(news),
    async lead(spread, signal) {
      Object.assign(state, { isLeading: true, spread });
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      state.isLeading = false;
    },
  });
  return state;
}

test("one tab leads, the others hear what it spreads, and the next one leads when it closes", async () => {
  const name = newName();
  const first = openTab(name);
  await expect.poll(() => first.isLeading).toBe(true);
  const [second, third] = [openTab(name), openTab(name)];
  await expect.poll(() => [...second.heard, ...third.heard]).toContain("hello");
  first.spread("event");
  await expect.poll(() => [second.heard.at(-1), third.heard.at(-1)]).toEqual(["event", "event"]);
  expect([second.isLeading, third.isLeading]).toEqual([false, false]);
  first.close();
  await expect.poll(() => second.isLeading).toBe(true);
  second.spread("later");
  await expect.poll(() => third.heard.at(-1)).toBe("later");
  expect(first.heard).toEqual([]);
});

test("a tab that sleeps with the lock loses it to one that is looked at, and follows when it wakes up", async () => {
  const name = newName();
  const sleeping = openTab(name);
  await expect.poll(() => sleeping.isLeading).toBe(true);
  // A tab that sleeps answers nobody.
  const deaf = vi.spyOn(BroadcastChannel.prototype, "postMessage").mockImplementation(() => {});
  const seen = openTab(name);
  await expect.poll(() => deaf.mock.calls.length).toBeGreaterThan(0);
  vi.advanceTimersByTime(5_000);
  await expect.poll(() => seen.isLeading).toBe(true);
  deaf.mockRestore();
  await expect.poll(() => sleeping.isLeading).toBe(false);
  seen.spread("event");
  await expect.poll(() => sleeping.heard).toContain("event");
});

test("a hidden tab takes the lock from nobody", async () => {
  const name = newName();
  const first = openTab(name);
  await expect.poll(() => first.isLeading).toBe(true);
  vi.stubGlobal("document", { visibilityState: "hidden" });
  const deaf = vi.spyOn(BroadcastChannel.prototype, "postMessage").mockImplementation(() => {});
  const second = openTab(name);
  await expect.poll(() => deaf.mock.calls.length).toBeGreaterThan(0);
  vi.advanceTimersByTime(60_000);
  deaf.mockRestore();
  first.spread("event");
  await expect.poll(() => second.heard).toContain("event");
  expect(second.isLeading).toBe(false);
});

test("without locks, each tab has its own stream", async () => {
  vi.stubGlobal("navigator", {});
  const name = newName();
  const [first, second] = [openTab(name), openTab(name)];
  await expect.poll(() => [first.isLeading, second.isLeading]).toEqual([true, true]);
});
