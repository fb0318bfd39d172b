import { accentOf } from "./accent.ts";

/**
 * Sets `data-scheme` for the style sheet, and the company's color. `requested`, such as a site's choice, overrides the
 * device's. `color`: `#rrggbb`, or null for ours.
 */
export function followScheme(requested: string | null, color: string | null = null): void {
  const device = matchMedia("(prefers-color-scheme: dark)");
  const { dataset, style } = document.documentElement;
  const apply = () => {
    const scheme = requested === "dark" || (requested !== "light" && device.matches) ? "dark" : "light";
    dataset.scheme = scheme;
    const shades = color === null ? null : accentOf(color, scheme);
    if (!shades) return;
    style.setProperty("--accent", shades.accent);
    style.setProperty("--accent-hover", shades.hover);
    style.setProperty("--on-accent", shades.onAccent);
    style.setProperty("--focus", shades.accent);
  };
  device.addEventListener("change", apply);
  apply();
}
