declare namespace Cloudflare {
  interface Env {
    /** The seed of a run to be replayed; empty for a new one. */
    TEST_SEED: string;
    /** How many requests of each kind the tests of `fuzz` make; empty for as many as a quick run takes. */
    TEST_REQUESTS: string;
    /** What the command of the models asks for, as JSON; empty in `npm run test:deep`. */
    TEST_MODELS: string;
    /** How many seeds walk the lists of chats; empty for a few. */
    TEST_WALKS: string;
    /** How many payloads of networks are changed at random; empty for a few. */
    TEST_MUTATIONS: string;
    /** How `npm run test:jitter` disturbs time; empty in `npm test`. */
    TEST_JITTER: string;
    TEST_MIGRATIONS: import("cloudflare:test").D1Migration[];
  }
  interface GlobalProps {
    mainModule: typeof import("../src/index.ts");
  }
}

declare module "*?raw" {
  const text: string;
  export default text;
}

interface ImportMeta {
  /** Vite's: the files that a pattern fits, by their paths. */
  glob(pattern: string): Record<string, unknown>;
  glob<T>(pattern: string | string[], options: { query: string; import: string; eager: true }): Record<string, T>;
}

/** The module of Vitest's plugin behind `cloudflare:test`. */
declare module "cloudflare:test-internal" {
  export function maybeHandleRunRequest(request: { cf: object }, instance: unknown, state: unknown): Promise<unknown>;
}
