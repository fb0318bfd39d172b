import type { Page } from "playwright-core";

/**
 * What a person would see as broken on a page, or in its open dialog: texts that are cut without an ellipsis or reach
 * over the edge of their box, keys broken over lines, boxes that scroll sideways without the keyboard, and things that
 * cover each other. Each line names the elements. What scrolls below a bar that sticks is not covered.
 */
export function layoutFaults(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    interface Thing {
      element: Element;
      box: DOMRect;
    }

    const faults = new Set<string>();
    const root = [...document.querySelectorAll("dialog[open]")].at(-1) ?? document.body;
    const isRound = (value: number) => Math.round(value);

    const nameOf = (element: Element): string => {
      const look = [...element.classList].map((name) => `.${name}`).join("");
      const words = (element.getAttribute("aria-label") ?? element.textContent ?? "").trim().slice(0, 30);
      return `${element.localName}${look}${words && ` “${words}”`}`;
    };
    /** For screen readers alone. */
    const isUnseen = (element: Element | null): boolean =>
      element !== null && (getComputedStyle(element).clipPath === "inset(50%)" || isUnseen(element.parentElement));
    const isSeen = (element: Element): boolean =>
      element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && !isUnseen(element);
    const meet = (one: DOMRect, other: DOMRect): DOMRect => {
      const left = Math.max(one.left, other.left);
      const top = Math.max(one.top, other.top);
      const width = Math.max(0, Math.min(one.right, other.right) - left);
      return new DOMRect(left, top, width, Math.max(0, Math.min(one.bottom, other.bottom) - top));
    };

    /** What is seen of a box, and the first ancestor that cuts its sides. */
    const seenOf = (element: Element, box: DOMRect) => {
      let seen = box;
      let cutBy: Element | null = null;
      for (let at: Element | null = element; at && at !== document.body; at = at.parentElement) {
        const style = getComputedStyle(at);
        if (style.display === "contents") continue;
        if (style.overflowX !== "visible") {
          const inner = meet(seen, at.getBoundingClientRect());
          if (inner.width < seen.width - 1.5) cutBy ??= at;
          seen = inner;
        }
        if (style.position === "fixed") break;
      }
      const inWindow = meet(seen, new DOMRect(0, 0, innerWidth, innerHeight));
      return { seen: inWindow, cutBy, isBeyond: seen.width > 0 && (seen.left < -1.5 || seen.right > innerWidth + 1.5) };
    };
    const scrollsByKey = (element: Element): boolean =>
      element instanceof HTMLElement && element.tabIndex >= 0 && getComputedStyle(element).overflowX !== "hidden";

    const things: Thing[] = [];
    const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    for (let text = texts.nextNode(); text; text = texts.nextNode()) {
      const element = text.parentElement;
      if (!text.nodeValue?.trim() || !element || !isSeen(element)) continue;
      const range = document.createRange();
      range.selectNodeContents(text);
      for (const rect of range.getClientRects()) {
        if (rect.width < 1) continue;
        // The letters are lower than their line.
        const box = new DOMRect(rect.x, rect.y + rect.height * 0.25, rect.width, rect.height * 0.5);
        const { seen, cutBy, isBeyond } = seenOf(element, box);
        if (cutBy && !scrollsByKey(cutBy) && getComputedStyle(cutBy).textOverflow !== "ellipsis") {
          faults.add(`${nameOf(element)} is cut by ${nameOf(cutBy)}`);
        }
        if (isBeyond) faults.add(`${nameOf(element)} reaches over the edge of the page`);
        if (seen.width > 2 && seen.height > 2) things.push({ element, box: seen });
      }
    }
    for (const element of root.querySelectorAll(
      "a[href], button, input, select, textarea, summary, img, .icon, .dot, .avatar",
    )) {
      if (!isSeen(element)) continue;
      const isPlain = element.matches(".icon") && getComputedStyle(element).pointerEvents === "none";
      for (const box of isPlain ? [] : element.getClientRects()) {
        const { seen, isBeyond } = seenOf(element, box);
        if (isBeyond) faults.add(`${nameOf(element)} reaches over the edge of the page`);
        if (seen.width > 2 && seen.height > 2) things.push({ element, box: seen });
      }
    }

    for (const key of root.querySelectorAll("kbd")) {
      if (isSeen(key) && key.getClientRects().length > 1) faults.add(`${nameOf(key)} is broken over lines`);
    }

    for (const element of [document.documentElement, ...root.querySelectorAll("*")]) {
      if (!isSeen(element) || element.closest("svg") || element.scrollWidth <= element.clientWidth + 1) continue;
      const { overflowX, backgroundColor, borderTopWidth, display } = getComputedStyle(element);
      if (display === "inline" || element.clientWidth === 0) continue;
      const by = `by ${isRound(element.scrollWidth - element.clientWidth)} px`;
      const isBox = backgroundColor !== "rgba(0, 0, 0, 0)" || borderTopWidth !== "0px";
      if (overflowX === "visible" && isBox) faults.add(`something reaches out of ${nameOf(element)} ${by}`);
      if (/auto|scroll/.test(overflowX) && !scrollsByKey(element))
        faults.add(`${nameOf(element)} scrolls sideways ${by}`);
    }

    const stickyOf = (element: Element): Element | null => {
      for (let at: Element | null = element; at; at = at.parentElement) {
        if (getComputedStyle(at).position === "sticky") return at;
      }
      return null;
    };
    const sorted = things.toSorted((one, other) => one.box.top - other.box.top);
    for (const [n, { element: one, box }] of sorted.entries()) {
      for (const { element: other, box: below } of sorted.slice(n + 1)) {
        if (below.top > box.bottom - 2) break;
        const { width, height } = meet(box, below);
        if (width <= 2 || height <= 2 || one.contains(other) || other.contains(one)) continue;
        if (stickyOf(one) !== stickyOf(other)) continue;
        faults.add(`${nameOf(one)} and ${nameOf(other)} share ${isRound(width)} × ${isRound(height)} px`);
      }
    }
    return [...faults];
  });
}
