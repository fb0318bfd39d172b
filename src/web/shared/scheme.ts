export type Scheme = "light" | "dark";

/**
 * Sets `data-scheme` for the style sheet. `requested`, such as a site's choice, overrides the device's.
 * @param onScheme is called at once, and with each change
 */
export function followScheme(requested: string | null, onScheme?: (scheme: Scheme) => void): void {
  const device = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => {
    const scheme = requested === "dark" || (requested !== "light" && device.matches) ? "dark" : "light";
    document.documentElement.dataset.scheme = scheme;
    onScheme?.(scheme);
  };
  device.addEventListener("change", apply);
  apply();
}
