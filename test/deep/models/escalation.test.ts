import fc from "fast-check";
import { test } from "vitest";
import { chains, runChain } from "./chains.ts";
import { hold, saw, TIMEOUT_MS } from "./hold.ts";

test(
  "in random chains of acts, no key ever holds what its maker did not, and the ceilings hold",
  async () => {
    await hold("escalation", { few: 10, many: 5_000 }, () =>
      fc.asyncProperty(chains(40), (chain) => runChain(chain, saw)),
    );
  },
  TIMEOUT_MS,
);
