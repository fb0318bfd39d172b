import { Signal } from "./signal.ts";

const SCOPE = "/console";

/** The parts of the page's path below `/console`: `["o", "org_1", "inbox"]`. */
export const pathParts = new Signal(partsNow());

/** Shows another screen. @param isReplaced without an entry of its own in the browser's history */
export function route(href: string, isReplaced = false): void {
  const before = location.pathname;
  if (isReplaced) history.replaceState(null, "", href);
  else history.pushState(null, "", href);
  arrive();
  if (!isReplaced && location.pathname !== before) scrollTo(0, 0);
}

/** Links to screens load no new page, unless the person or the link asks for one. */
export function followLinks(): void {
  addEventListener("popstate", arrive);
  addEventListener("click", (event) => {
    const { target, button, ctrlKey, metaKey, altKey, shiftKey } = event;
    const link = target instanceof Element ? target.closest<HTMLAnchorElement>("a[href]") : null;
    if (!link || button !== 0 || ctrlKey || metaKey || altKey || shiftKey) return;
    const isElsewhere = link.origin !== location.origin || !link.pathname.startsWith(SCOPE);
    if (isElsewhere || link.target || link.download || link.hasAttribute("download") || link.hash) return;
    event.preventDefault();
    route(link.href);
  });
}

function arrive(): void {
  const parts = partsNow();
  if (parts.join("/") !== pathParts.value.join("/")) pathParts.value = parts;
}

function partsNow(): string[] {
  return location.pathname.slice(SCOPE.length).split("/").filter(Boolean).map(decodeURIComponent);
}
