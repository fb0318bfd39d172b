import { batch, signal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";

/** The path of the open screen. */
export const currentPath = signal(location.pathname);

/** Its query, with the `?`; empty if it has none. */
export const currentQuery = signal(location.search);

/** The person followed a link to the open screen, or chose it by its name, rather than stepping to it by a key. */
export const isFollowed = signal(false);

/** The part of an address after the name of its screen, such as a channel's id and `set-up`. */
export interface ScreenParts {
  id: string | undefined;
  part: string | undefined;
}

/** Opens a screen. @param replaces whether the history forgets the one before, as it does for the same address */
export function route(to: string, replaces = false): void {
  if (replaces || to.replace(/#.*/, "") === location.pathname + location.search) history.replaceState(null, "", to);
  else history.pushState(null, "", to);
  readPath();
  // A place on the screen. The browser itself says so for its own links alone.
  if (location.hash !== "") dispatchEvent(new Event("hashchange"));
}

/** Opens a screen as a click on a link to it does. */
export function follow(to: string): void {
  route(to);
  isFollowed.value = true;
}

/** Follows the browser's history, and opens links between screens without loading the page again. */
export function useLinks(): void {
  useLayoutEffect(() => {
    addEventListener("popstate", readPath);
    addEventListener("click", openLink);
    return () => {
      removeEventListener("popstate", readPath);
      removeEventListener("click", openLink);
    };
  }, []);
}

function readPath(): void {
  batch(() => {
    // Another place on the same screen is not another screen.
    if (currentPath.value !== location.pathname) isFollowed.value = false;
    currentPath.value = location.pathname;
    currentQuery.value = location.search;
  });
}

function openLink(event: MouseEvent): void {
  const { target, button, ctrlKey, metaKey, altKey, shiftKey } = event;
  const link = target instanceof Element && target.closest("a");
  if (!link || button !== 0 || ctrlKey || metaKey || altKey || shiftKey) return;
  const isScreen = link.getAttribute("href")?.startsWith("/console");
  if (!isScreen || link.target !== "" || link.hasAttribute("download")) return;
  event.preventDefault();
  follow(link.pathname + link.search + link.hash);
}
