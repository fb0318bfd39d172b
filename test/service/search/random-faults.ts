import { breakObjects, replaceMethod } from "../../support/faults.ts";
import type { Random } from "../../support/random.ts";

/** The alarms in which the indexes are told what was said. */
interface Rings {
  chats(): Promise<unknown>;
  organization(): Promise<unknown>;
}

/** @returns a function that breaks something and rings, so that an index, or who tells it, fails while it is told */
export function randomFault(random: Random, rings: Rings): () => Promise<unknown> {
  return random.pick([
    () => {
      breakObjects("SEARCH_INDEXES", "index", (call) => call % 2 === 0);
      return rings.chats();
    },
    () => {
      breakObjects("ORGANIZATIONS", "report", (call) => call % 3 === 0);
      return rings.chats();
    },
    () => {
      // The index takes it, and its answer is lost.
      replaceMethod("SEARCH_INDEXES", "index", (original) => async (...given) => {
        await original(...given);
        throw new Error("The answer is lost");
      });
      return rings.chats();
    },
    () => {
      breakObjects("CHATS", "fillSearch", (call) => call % 2 === 0);
      return rings.organization();
    },
  ]);
}
