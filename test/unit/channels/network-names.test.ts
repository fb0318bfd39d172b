import { expect, test } from "vitest";
import { ADAPTERS } from "../../../src/channels/registry.ts";

const FILES = import.meta.glob<string>("../../../src/**/*.{ts,tsx,css}", {
  query: "?raw",
  import: "default",
  eager: true,
});
/** What is told of the networks to people, in documents and on the command line: nothing of it runs in the Worker. */
const FOR_PEOPLE = /^src\/(openapi|cli)\//;
/** The registry's line, and what wrangler makes of the names in `.dev.vars.optional.example`. */
const LISTS = ["src/channels/registry.ts", "src/env.d.ts"];

test.each(Object.keys(ADAPTERS))("outside its own folder, %s is named in the registry alone", (kind) => {
  const named = Object.entries(FILES)
    .filter(([, text]) => text.toLowerCase().includes(kind))
    .map(([path]) => path.replace("../../../", ""))
    .filter((path) => !path.startsWith(`src/channels/${kind}/`) && !FOR_PEOPLE.test(path));
  expect(named.sort()).toEqual(LISTS);
});
