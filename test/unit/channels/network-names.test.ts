import { expect, test } from "vitest";
import { ADAPTERS } from "../../../src/channels/registry.ts";

const FILES = import.meta.glob<string>("../../../src/**/*.{ts,tsx,css}", {
  query: "?raw",
  import: "default",
  eager: true,
});
/** Documents, the command line and the console describe each network. They are not part of the Worker. */
const OUTSIDE_WORKER = /^src\/(openapi|cli|web\/console)\//;
/** The registry, and the types that wrangler generates from `.dev.vars.optional.example`. */
const EXPECTED = ["src/channels/registry.ts", "src/env.d.ts"];

test.each(Object.keys(ADAPTERS))("only the registry names %s outside its own folder", (kind) => {
  const named = Object.entries(FILES)
    .filter(([, text]) => text.toLowerCase().includes(kind))
    .map(([path]) => path.replace("../../../", ""))
    .filter((path) => !path.startsWith(`src/channels/${kind}/`) && !OUTSIDE_WORKER.test(path));
  expect(named.sort()).toEqual(EXPECTED);
});
