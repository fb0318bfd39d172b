import { env } from "cloudflare:workers";
import fc from "fast-check";
import { expect, test } from "vitest";
import { chains, runChain } from "./chains.ts";
import { hold, saw, TIMEOUT_MS } from "./hold.ts";

test(
  "in random chains of acts, no key ever holds what its maker did not, and the ceilings hold",
  async () => {
    const statuses: number[] = [];
    const see = (what: string) => {
      saw(what);
      statuses.push(Number(what.split(" ")[1]));
    };
    await hold("escalation", { few: 10, many: 5_000 }, () =>
      fc.asyncProperty(chains(40), (chain) => runChain(chain, see)),
    );
    // Runs in which nothing succeeds, or nothing is refused, say nothing. A command can ask for one run alone.
    if (env.TEST_MODELS === "") {
      expect(statuses.some((status) => status < 300)).toBe(true);
      expect(statuses.some((status) => status >= 400)).toBe(true);
    }
  },
  TIMEOUT_MS,
);
