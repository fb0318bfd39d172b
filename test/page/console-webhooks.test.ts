import { expect, test } from "vitest";
import { TYPE_PATTERNS } from "../../src/model/event-filter.ts";
import { EVENT_CHOICES } from "../../src/web/console/webhooks/webhook-state.ts";

test("a webhook can get each family of events", () => {
  const families = TYPE_PATTERNS.filter((pattern) => pattern.endsWith(".*"));
  expect(EVENT_CHOICES).toEqual(expect.arrayContaining(families));
});
