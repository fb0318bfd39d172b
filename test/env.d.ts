declare namespace Cloudflare {
  interface Env {
    /** The seed of a run to be replayed; empty for a new one. */
    TEST_SEED: string;
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
