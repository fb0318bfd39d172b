import { describe, expect, test } from "vitest";
import { accentOf } from "../../src/web/shared/accent.ts";

const COLORS = ["#ffe000", "#000000", "#ffffff", "#808080", "#0d6b5e", "#ff0000", "#0000ff", "#7f8c8d"];

describe.each([
  { scheme: "light", surface: "#ffffff", readable: "#0d6b5e" },
  { scheme: "dark", surface: "#1b1f23", readable: "#5fd0bb" },
] as const)("in the $scheme scheme", ({ scheme, surface, readable }) => {
  test.each(COLORS)("text on an accent of %s can be read", (color) => {
    const { accent = "", onAccent = "" } = accentOf(scheme, color) ?? {};
    expect(contrastOf(accent, onAccent), `${accent} with ${onAccent}`).toBeGreaterThanOrEqual(4.5);
  });

  test.each(COLORS)("an accent of %s stands out from the page", (color) => {
    const { accent = "" } = accentOf(scheme, color) ?? {};
    expect(contrastOf(accent, surface), `${accent} on ${surface}`).toBeGreaterThanOrEqual(3);
  });

  test("a color that can be read stays as it is", () => {
    expect(accentOf(scheme, readable)?.accent).toBe(readable);
  });

  test("the name of a color is no accent", () => {
    expect(accentOf(scheme, "red", null, undefined)).toBeNull();
  });
});

/** By the formula of WCAG 2.2. */
function contrastOf(...colors: [string, string]): number {
  const [high = 0, low = 0] = colors
    .map((color) => {
      const [red = 0, green = 0, blue = 0] = [1, 3, 5]
        .map((at) => Number.parseInt(color.slice(at, at + 2), 16) / 255)
        .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    })
    .sort((one, other) => other - one);
  return (high + 0.05) / (low + 0.05);
}
