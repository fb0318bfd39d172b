import type { ToFrame, ToHost } from "./host-frame.ts";
import type { SiteUser } from "./widget-api.ts";

/** The time within which a loaded frame must report itself. */
const REPORT_TIMEOUT_MS = 1_000;

interface FrameEvents {
  /** What the chat in the frame says. */
  onMessage: (message: ToHost) => void;
  /** Whether a loaded frame has no chat. */
  onMissing: (missing: boolean) => void;
}

/** The frame with the chat. @param box where it has its place */
export function widgetFrame(box: HTMLElement, { origin }: URL, { onMessage, onMissing }: FrameEvents) {
  let frame: HTMLIFrameElement | null = null;
  /** The window into which the chat was loaded. */
  let loaded: Window | null | undefined;
  /** Whether the chat in the frame is running. */
  let here = false;
  /** The frame's window: none if the site has removed the frame. */
  const view = () => frame?.contentWindow;

  addEventListener("message", ({ data, source, origin: from }: MessageEvent<ToHost | null>) => {
    if (source !== view() || from !== origin || !data) return;
    if (data.parley === "here") {
      here = true;
      // On a phone, this hides the launcher, because the chat has its own close button.
      box.classList.add("here");
      onMissing(false);
    }
    onMessage(data);
  });

  return {
    /** Whether it is there. The site may have removed it. */
    isThere: () => Boolean(view()),
    /** Whether the site has moved it. The browser then gives it a new window, with the address that it had at first. */
    isMoved: () => Boolean(view()) && view() !== loaded,
    focus: () => frame?.focus(),
    post(message: ToFrame): void {
      if (here) view()?.postMessage(message, origin);
    },

    /** Loads the chat, unless it is there. */
    load(src: string, title: string): void {
      if (view()) return;
      here = false;
      const loading = document.createElement("iframe");
      frame = loading;
      frame.className = "frame";
      frame.title = title;
      frame.allow = "clipboard-write";
      // The load event also fires if the browser blocked the page, but then no chat reports itself.
      frame.addEventListener("load", () => setTimeout(() => frame === loading && onMissing(!here), REPORT_TIMEOUT_MS));
      frame.src = src;
      box.prepend(frame);
      loaded = view();
    },

    /** Tells the chat another address, if it is there. One that differs in the fragment alone loads nothing. */
    replace(src: string): void {
      view()?.location.replace(src);
    },

    /** Takes the frame away. What it still says is not heard. */
    drop(): void {
      frame?.remove();
      frame = null;
      here = false;
      box.classList.remove("here");
      onMissing(false);
    },
  };
}

/** The address of the frame's page. Its settings are in the fragment, which browsers never send. */
export function frameAddress(address: URL, dataset: DOMStringMap, user: SiteUser | null, forgets: boolean): string {
  const { locale, colorScheme: scheme, accent } = dataset;
  const settings = { host: location.origin, ...user, locale, scheme, accent, fresh: forgets ? "1" : null };
  const given = Object.entries(settings).filter((pair): pair is [string, string] => typeof pair[1] === "string");
  return `${address.href}#${new URLSearchParams(given)}`;
}
