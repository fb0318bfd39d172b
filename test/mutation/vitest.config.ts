import { defineConfig } from "vitest/config";
import { NearestFirst } from "./nearest-first.ts";

const here = new URL(".", import.meta.url).pathname;

/** Mutants run in plain Node, in threads: the tests that need no Workers runtime but for what `runtime.ts` adds. */
export default defineConfig({
  root: `${here}../..`,
  resolve: { alias: [{ find: /^fast-check$/, replacement: `${here}fast-check.ts` }] },
  test: {
    include: [
      "test/{unit,mutation}/**/*.test.ts",
      "test/page/{conversation,conversation-edges,conversation-properties,frames,links,page,timeline}.test.ts",
    ],
    // The first four read files, not modules; the last takes longer than all others, and others have its decisions.
    exclude: [
      "test/unit/{project/dependencies,project/floors,project/runtime-folders,channels/network-names,channels/object/pace-herd}.test.ts",
      "**/node_modules/**",
    ],
    setupFiles: [`${here}runtime.ts`],
    // A test that waits forever is ended by Stryker, which knows how long the tests of a mutant take.
    testTimeout: 600_000,
    isolate: false,
    sequence: { sequencer: NearestFirst },
  },
});
