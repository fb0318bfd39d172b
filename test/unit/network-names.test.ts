import { expect, test } from "vitest";
import { ADAPTERS } from "../../src/channels/registry.ts";

const FILES = import.meta.glob<string>("../../src/**/*.{ts,tsx,css}", {
  query: "?raw",
  import: "default",
  eager: true,
});
/** What documents say of a network, for people: nothing of it runs. */
const DOCUMENTS = "src/openapi/";
/** The registry's line, and what wrangler makes of the names in `.dev.vars.example`. */
const LISTS = ["src/channels/registry.ts", "src/env.d.ts"];

test.each(Object.keys(ADAPTERS))("outside its own folder, %s is named in the registry alone", (kind) => {
  const named = Object.entries(FILES)
    .filter(([, text]) => text.toLowerCase().includes(kind))
    .map(([path]) => path.replace("../../", ""))
    .filter((path) => !path.startsWith(`src/channels/${kind}/`) && !path.startsWith(DOCUMENTS));
  expect(named.sort()).toEqual(LISTS);
});
