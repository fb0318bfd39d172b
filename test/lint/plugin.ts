import { alarmBesideAnother } from "./alarm-beside-another.ts";
import { awaitedInTurn } from "./awaited-in-turn.ts";
import { endOfId } from "./end-of-id.ts";
import { lateRoute } from "./late-route.ts";
import { locatorReadOnce } from "./locator-read-once.ts";
import { lookAfterAct } from "./look-after-act.ts";
import { movesTheClock } from "./moves-the-clock.ts";
import { ownPatience } from "./own-patience.ts";
import { pollWithoutEnd } from "./poll-without-end.ts";
import { sleep } from "./sleep.ts";
import { timedTest } from "./timed-test.ts";
import { wordInId } from "./word-in-id.ts";

/** Oxlint's rules about tests that are red now and then: kinds of races that can be seen in the text of a test. */
export default {
  meta: { name: "races" },
  rules: {
    "alarm-beside-another": alarmBesideAnother,
    "awaited-in-turn": awaitedInTurn,
    "end-of-id": endOfId,
    "late-route": lateRoute,
    "locator-read-once": locatorReadOnce,
    "look-after-act": lookAfterAct,
    "moves-the-clock": movesTheClock,
    "own-patience": ownPatience,
    "poll-without-end": pollWithoutEnd,
    sleep,
    "timed-test": timedTest,
    "word-in-id": wordInId,
  },
};
