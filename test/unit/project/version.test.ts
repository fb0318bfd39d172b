import { expect, test } from "vitest";
import manifest from "../../../package.json";
import { VERSION } from "../../../src/model/version.ts";

test("the Worker says the version of package.json", () => {
  expect(VERSION).toBe(manifest.version);
});
