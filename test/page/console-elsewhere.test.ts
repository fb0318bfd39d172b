import { expect, test } from "vitest";
import type { Message } from "../../src/web/console/api.ts";
import { elsewhere, marksOf } from "../../src/web/console/inbox/marks.ts";

const message = (fields: Partial<Message>) => fields as Message;

test.each([
  [{ origin: "app" }, "From the WhatsApp Business app"],
  [{ origin: "network" }, "From Meta’s agent"],
  [{ standby: true }, "To Meta’s agent"],
  [{}, undefined],
] as const)("a message of WhatsApp with %j has the label %j", (fields, label) => {
  expect(elsewhere(message(fields), "whatsapp")).toBe(label);
  expect(marksOf(message({ ...fields, forwarded: "once" }), "whatsapp")).toEqual([label, "Forwarded"].filter(Boolean));
});

test("a voice note and what a message cost have labels", () => {
  const price = { category: "utility", type: null, billable: true };
  expect(marksOf(message({ voice: true, price }), "whatsapp")).toEqual(["Voice note", "Charged: utility"]);
});

test("other channels have no such messages, and no label", () => {
  expect(elsewhere(message({ origin: "app" }), "web")).toBeUndefined();
});

test("an away message has its label on each channel", () => {
  for (const kind of ["web", "telegram", "whatsapp"] as const) {
    expect(marksOf(message({ origin: "away" }), kind)).toEqual(["Away message"]);
  }
});
