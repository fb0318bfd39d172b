import { expect, test } from "vitest";
import { settle } from "../platform/fake-clock.ts";
import { FakeWebhook } from "./fake-webhook.ts";

test("a line that never answers its wake-up is woken again, and holds up no other", async () => {
  const webhook = new FakeWebhook({ concurrency: 1 });
  const woken: string[] = [];
  webhook.onWake = (lineId) => {
    woken.push(lineId);
    return lineId === "silent" ? new Promise(() => {}) : undefined;
  };
  await webhook.permits.disable("customer");
  for (const lineId of ["silent", "other"]) await webhook.permit(lineId);
  await webhook.permits.enable("pending");
  await settle();
  expect(woken).toEqual(["silent"]);
  await webhook.run(20_000);
  expect(woken).toContain("other");
  await webhook.run(40_000);
  expect(woken.filter((lineId) => lineId === "silent").length).toBeGreaterThanOrEqual(2);
});

test("lines that have nothing to send, such as those of deleted chats, hold up no other", async () => {
  const webhook = new FakeWebhook({ concurrency: 2, perSecond: 1 });
  const woken: string[] = [];
  webhook.onWake = (lineId) => {
    woken.push(lineId);
    return lineId === "other" ? undefined : null;
  };
  await webhook.permits.disable("customer");
  for (let line = 0; line < 100; line++) await webhook.permit(`deleted ${line}`);
  await webhook.permit("other");
  await webhook.permits.enable("pending");
  await webhook.run(2_000);
  expect(woken).toHaveLength(101);
  expect(woken).toContain("other");
  expect(webhook.waiting.rows.filter(({ lineId }) => lineId !== "other")).toEqual([]);
  // Nor do they use up starts.
  expect(await webhook.ask("other")).toMatchObject({ outcome: "granted" });
});
