import { PERMIT_DECISIONS, type PermitDecisions } from "../../src/channels/object/permits.ts";
import { DELIVERY_DECISIONS, type DeliveryDecisions } from "../../src/chats/object/delivery/decisions.ts";
import type { SimulatedChannel } from "./channel.ts";
import type { World } from "./world.ts";

/** All decisions of a delivery, as the service makes them. A wrong version replaces some. */
export const DECISIONS = { ...DELIVERY_DECISIONS, ...PERMIT_DECISIONS };

export type Decisions = typeof DECISIONS;

/** The decisions of a chat's object, which are counted. */
export function watchDelivery(decisions: Decisions, world: World): DeliveryDecisions {
  const { nextStep, isStalePermit, applyNews } = decisions;
  return {
    ...decisions,
    nextStep(row, isMarked, now) {
      const step = nextStep(row, isMarked, now);
      world.count(`turn: ${step.turn}`);
      return step;
    },
    isStalePermit(isBroken, asked, current) {
      const isStale = isStalePermit(isBroken, asked, current);
      if (isStale) world.count("a stale permit");
      return isStale;
    },
    applyNews(known, news) {
      const after = applyNews(known, news);
      world.count(after ? (after === known ? "news that is none" : "news") : "news of no message");
      return after;
    },
  };
}

/** The decisions of a channel's object. They are counted, and its judge hears what ends a trial. */
export function watchPermits(decisions: Decisions, world: World, channel: SimulatedChannel): PermitDecisions {
  const { endTrial, grantPermit, isStillValid } = decisions;
  return {
    ...decisions,
    grantPermit(pace, query, ...rest) {
      const canWait = query.canWait && !world.fault("impatient channel", 0.3);
      const answer = grantPermit(pace, { ...query, canWait }, ...rest);
      const { permit } = answer;
      world.count(`permit: ${permit.outcome}${permit.outcome === "later" && permit.broken ? ", broken" : ""}`);
      return answer;
    },
    isStillValid(pace, at, epoch) {
      const isGood = isStillValid(pace, at, epoch);
      if (!isGood) world.count("a start that did not come");
      return isGood;
    },
    endTrial(pace, attempt, works, now) {
      if (attempt.trial === pace.trialUntil) channel.judge.trialOver();
      return endTrial(pace, attempt, works, now);
    },
  };
}
