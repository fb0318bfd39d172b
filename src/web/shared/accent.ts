import type { Scheme } from "./scheme.ts";

/** A company's color, made readable: on it and beside it. */

type Color = [red: number, green: number, blue: number];

export interface Accent {
  accent: string;
  hover: string;
  /** The text on it. */
  onAccent: string;
}

const WHITE: Color = [255, 255, 255];
const BLACK: Color = [17, 20, 23];
/** The surface that the color stands on. */
const SURFACES: Record<Scheme, Color> = { light: WHITE, dark: [27, 31, 35] };

/** What WCAG 2.2 asks of text, and of what surrounds a control. */
const TEXT_CONTRAST = 4.5;
const CONTROL_CONTRAST = 3;
const STEPS = 40;

/** A color as somebody gives it: `#rrggbb`, or nothing that is one. */
type Given = string | null | undefined;

/** The shades of the first color given that are readable in a scheme; null if there is none. */
export function accentOf(scheme: Scheme, ...colors: Given[]): Accent | null {
  const given = colors.map(parsed).find(Boolean);
  if (!given) return null;
  const surface = SURFACES[scheme];
  const away = scheme === "light" ? BLACK : WHITE;
  for (let step = 0; step <= STEPS; step++) {
    const shade = mixed(given, away, step / STEPS);
    const text = contrast(shade, WHITE) >= TEXT_CONTRAST ? WHITE : BLACK;
    if (contrast(shade, surface) < CONTROL_CONTRAST || contrast(shade, text) < TEXT_CONTRAST) continue;
    // Away from the text, so that the text stays readable.
    const hover = mixed(shade, text === WHITE ? BLACK : WHITE, 0.14);
    return { accent: hex(shade), hover: hex(hover), onAccent: hex(text) };
  }
  return null;
}

/** Draws the page in the first color given; in ours if there is none. */
export function showAccent(scheme: Scheme, ...colors: Given[]): void {
  const { accent = "", hover = "", onAccent = "" } = accentOf(scheme, ...colors) ?? {};
  const { style } = document.documentElement;
  style.setProperty("--accent", accent);
  style.setProperty("--accent-hover", hover);
  style.setProperty("--on-accent", onAccent);
  style.setProperty("--focus", accent);
}

/** The contrast of a color with the page, from 1 to 21. */
export function contrastWithPage(color: string, scheme: Scheme): number {
  const given = parsed(color);
  return given ? contrast(given, SURFACES[scheme]) : 1;
}

function parsed(color: Given): Color | null {
  if (!color || !/^#[\da-f]{6}$/i.test(color)) return null;
  return [1, 3, 5].map((index) => Number(`0x${color.slice(index, index + 2)}`)) as Color;
}

function mixed(one: Color, other: Color, share: number): Color {
  return one.map((value, index) => Math.round(value + ((other[index] as number) - value) * share)) as Color;
}

/** @see https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio */
function contrast(one: Color, other: Color): number {
  const ratio = (luminance(one) + 0.05) / (luminance(other) + 0.05);
  return Math.max(ratio, 1 / ratio);
}

function luminance([red, green, blue]: Color): number {
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}

function linear(channel: number): number {
  const share = channel / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
}

function hex(color: Color): string {
  return `#${color.map((channel) => channel.toString(16).padStart(2, "0")).join("")}`;
}
