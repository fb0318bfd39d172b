import type { Scheme } from "./scheme.ts";

/** A company's color, made readable: on it and beside it. */

type Color = readonly [red: number, green: number, blue: number];

export interface Accent {
  accent: string;
  hover: string;
  /** The text on it. */
  onAccent: string;
}

const WHITE: Color = [255, 255, 255];
const BLACK: Color = [17, 20, 23];
/** The surface that the color stands on. */
const SURFACES = { light: WHITE, dark: [27, 31, 35] } as const;

/** What WCAG 2.2 asks of text, and of what surrounds a control. */
const TEXT_CONTRAST = 4.5;
const CONTROL_CONTRAST = 3;
const STEPS = 40;

/** The shades of a color that are readable in a scheme. @param color `#rrggbb`; null if it is not a color */
export function accentOf(color: string, scheme: Scheme): Accent | null {
  const given = parsed(color);
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

/** Draws the page in a color; in ours if it is null or none. */
export function showAccent(color: string | null, scheme: Scheme): void {
  const { accent = "", hover = "", onAccent = "" } = accentOf(color ?? "", scheme) ?? {};
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

function parsed(color: string): Color | null {
  return /^#[\da-f]{6}$/i.test(color) ? [channelAt(color, 1), channelAt(color, 3), channelAt(color, 5)] : null;
}

function channelAt(color: string, index: number): number {
  return Number.parseInt(color.slice(index, index + 2), 16);
}

function mixed(one: Color, other: Color, share: number): Color {
  const at = (index: 0 | 1 | 2) => Math.round(one[index] + (other[index] - one[index]) * share);
  return [at(0), at(1), at(2)];
}

/** @see https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio */
function contrast(one: Color, other: Color): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].toSorted((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
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
