import { expect, test } from "vitest";
import { isStopWord } from "../../../src/model/stop-words.ts";

test.each([
  ["STOP", true],
  ["stop", true],
  ["  Stop\n", true],
  ["\u00a0stop\u00a0", true],
  ["STRASSE", true],
  ["arrêt", true],
  ["ARRE\u0302T", true],
  ["ΣΤΟΠ ΤΕΛΟΣ", true],
  ["stop it", false],
  ["sto p", false],
  ["stop.", false],
  ["", false],
  ["arret", false],
])("%j is a stop word: %s", (text, expected) => {
  expect(isStopWord(["Stop", "straße", "Arrêt", "στοπ τελος"], text)).toBe(expected);
});

test("a channel without stop words has none, and a long text does not count", () => {
  expect(isStopWord(undefined, "stop")).toBe(false);
  expect(isStopWord([], "stop")).toBe(false);
  expect(isStopWord(["stop"], `stop${" ".repeat(10_000)}`)).toBe(false);
});
