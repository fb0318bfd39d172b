import { wrongVersions } from "../objects/wrong-versions.ts";

/** Wrong versions of the service, each with one wrong place, which the simulation finds within a few hundred seeds. */
const PLAIN_SABOTEURS = wrongVersions({
  "src/keys/admit.ts": {
    "a grant is used for another permission": [
      "const name = JSON.stringify([asking.id, asking.hash, asking.address, asking.permission]);",
      "const name = JSON.stringify([asking.id, asking.hash, asking.address]);",
    ],
    "a grant is used for another address": [
      "const name = JSON.stringify([asking.id, asking.hash, asking.address, asking.permission]);",
      "const name = JSON.stringify([asking.id, asking.hash, asking.permission]);",
    ],
    "a grant is used for another secret": [
      "const name = JSON.stringify([asking.id, asking.hash, asking.address, asking.permission]);",
      "const name = JSON.stringify([asking.id, asking.address, asking.permission]);",
    ],
    "a refusal is remembered too long": ["const REFUSED_FOR_MS = 1_000;", "const REFUSED_FOR_MS = 5_000;"],
  },
  "src/keys/return-grants.ts": {
    "unused units are returned only by a later call": [
      "  if (key.grants.has(grant)) await giveBack(env, keyId, key);\n",
      "",
    ],
  },
  "src/keys/held-grants.ts": {
    "a grant lasts until its timer": [
      "!isOver && askedAt <= now && now < askedAt + endsInMs",
      "!isOver && askedAt <= now",
    ],
    "a grant lasts from its answer on": [
      "Object.assign(held, { units, endsInMs, caller });",
      "Object.assign(held, { units, endsInMs, caller, askedAt: Date.now() });",
    ],
    "all units of a grant are returned": [
      "ended.map(({ id, units }) => ({ id, unused: units }))",
      "ended.map(({ id, units }) => ({ id, unused: units + 1 }))",
    ],
  },
  "src/keys/object/decide.ts": {
    "a grant outlives its window": ["window.reset, ", ""],
    "a grant outlives the old secret": [", secretEnds ?? never", ""],
  },
  "src/keys/object/limits.ts": {
    "each isolate gets a block": ["blockSize(limits, left.quota) - granted)", "blockSize(limits, left.quota))"],
    "units are granted although little is left": [" || left.window < limits.rateLimit * MIN_SHARE_LEFT", ""],
    "an isolate gets more than its pace": ["Math.min(pace, blockSize", "Math.min(1_000, blockSize"],
    "granted units are not counted": [
      "const missing = units + ahead - reservation.units;",
      "const missing = units - reservation.units;",
    ],
    "units are returned to another window": [
      "if (grant.windowStart !== counters.windowStart) {",
      "if (grant.units < 0) {",
    ],
    "the window goes back with the clock": [
      "if (now < windowEnds) {",
      "if (now < windowEnds && now >= counters.windowStart) {",
    ],
  },
  "src/keys/object/key-object.ts": {
    "statistics count returned units": [
      "this.#count(record, { admitted: grant.units - unused }, false);",
      "this.#count(record, { admitted: grant.units }, false);",
    ],
    "a reservation is not released": [
      "    const { counters, reservation } = releaseReservation(this.#storedCounters(), this.#reservation);\n",
      "    const { counters, reservation } = { counters: this.#storedCounters(), reservation: this.#reservation };\n",
    ],
  },
  "src/keys/object/open-grants.ts": {
    "an object grants as soon as it wakes": ["return now - this.#awakeSince >= AWAKE_FOR_MS;", "return true;"],
    "a grant is taken back twice": ["    this.#grants.delete(id);\n    return grant;", "    return grant;"],
  },
  "src/keys/object/record-cache.ts": {
    "a record stays cached when a change begins": [
      "    this.#drop();\n    this.#changes.begin(change);",
      "    this.#changes.begin(change);",
    ],
    "a record is cached during a change": [
      "    if (this.#changes.isAny) return readKeyRecord(directory(this.#env), id);\n",
      "",
    ],
  },
  "src/calls/change-key.ts": {
    "a change does not wait": [
      "  if (overInMs > 0) await SYSTEM_CLOCK.wait(overInMs);\n  return failed;",
      "  return failed;",
    ],
  },
});

/** These take up to 5,000 seeds, so the tests leave them out. */
const RARE_SABOTEURS = wrongVersions({
  "src/keys/return-grants.ts": {
    "no timer ends a grant": ["    grant.isOver = true;\n", ""],
  },
  "src/keys/held-grants.ts": {
    "Remaining leaves out what the isolate holds": ["Math.min(window.limit, left + this.units)", "left"],
  },
  "src/management/erase.ts": {
    "the deletion of an organization does not stop keys first": ["(await stopKeys(env, keyIds))", "([])"],
  },
  "src/keys/object/decide.ts": {
    "a grant outlives its key": ["expiresAt ?? never, ", ""],
    "a grant outlives its month": ["monthOf(now).until, ", ""],
  },
  "src/keys/object/limits.ts": {
    "settling releases granted units": [
      "return release(counters, reservation, reservation.units);",
      "return release(counters, reservation, reservation.units + reservation.granted);",
    ],
    "units are returned to another month": [
      "const isSameMonth = grant.month === counters.month;",
      "const isSameMonth = true;",
    ],
    "the month goes back with the clock": [
      "const newMonth = month > counters.month;",
      "const newMonth = month !== counters.month;",
    ],
  },
  "src/keys/object/key-object.ts": {
    "an answer is not remembered": ["this.#answers.get(asked.call) ?? this.#decide(", "this.#decide("],
  },
  "src/keys/object/record-cache.ts": {
    "units are granted during a change": ["return this.#held?.record === record;", "return record !== null;"],
    "a record that was read before a change is cached": [
      "if (generation === this.#generation) this.#keep(read);",
      "this.#keep(read);",
    ],
  },
});

export const KEY_SABOTEURS = { ...PLAIN_SABOTEURS, ...RARE_SABOTEURS };
