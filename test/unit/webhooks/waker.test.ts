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
