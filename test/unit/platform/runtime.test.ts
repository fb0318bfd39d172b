import { expect, test } from "vitest";

// The local runtime keeps every object that has pending work, with or without this flag. So no local test can show an
// eviction that the flag prevents, and this test only shows that the flag is on.
test("the platform keeps an object in memory while work under its waitUntil is pending", () => {
  expect(Cloudflare.compatibilityFlags).toMatchObject({ durable_object_io_tasks_prevent_eviction: true });
});
