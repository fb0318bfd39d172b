import { defineConfig } from "vitest/config";
import { NearestFirst } from "./nearest-first.ts";

const here = new URL(".", import.meta.url).pathname;

/** Mutants run in plain Node, in threads: the tests that need no Workers runtime but for what `runtime.ts` adds. */
export default defineConfig({
  root: `${here}../..`,
  resolve: {
    alias: [
      { find: /^fast-check$/, replacement: `${here}fast-check.ts` },
      { find: /^cloudflare:workers$/, replacement: `${here}workers.ts` },
    ],
  },
  test: {
    include: [
      "test/{unit,mutation}/**/*.test.ts",
      "test/page/{conversation,conversation-edges,conversation-properties,frames,links,message-extras,page,timeline}.test.ts",
    ],
    exclude: [
      // They read files, not modules.
      "test/unit/{project/dependencies,project/floors,project/runtime-folders,channels/network-names}.test.ts",
      // It takes longer than all others, and others have its decisions.
      "test/unit/channels/object/pace-herd.test.ts",
      // They test the runtime itself, or how it copies memory. Their modules are not mutated.
      "test/unit/{platform/runtime,events/stream,console/passkeys/authenticator-data}.test.ts",
      "**/node_modules/**",
    ],
    setupFiles: [`${here}runtime.ts`],
    // A test that waits forever is ended by Stryker, which knows how long the tests of a mutant take.
    testTimeout: 600_000,
    isolate: false,
    sequence: { sequencer: NearestFirst },
  },
});
