import { expect, test } from "vitest";
import { HeldGrants } from "../../../src/keys/held-grants.ts";

test("a busy requester stays, however many others come", () => {
  const grants = new HeldGrants();
  const busy = grants.requester("key", "busy");
  const quiet = grants.requester("key", "quiet");
  for (let n = 0; n < 30_000; n++) {
    grants.requester("key", `other ${n}`);
    if (n % 100 === 0) grants.requester("key", "busy");
  }
  expect(grants.requester("key", "busy")).toBe(busy);
  expect(grants.requester("key", "quiet")).not.toBe(quiet);
});
