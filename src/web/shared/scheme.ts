/** Sets `data-scheme` for the style sheet. `requested`, such as a site's choice, overrides the device's. */
export function followScheme(requested: string | null): void {
  const device = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => {
    const dark = requested === "dark" || (requested !== "light" && device.matches);
    document.documentElement.dataset.scheme = dark ? "dark" : "light";
  };
  device.addEventListener("change", apply);
  apply();
}
