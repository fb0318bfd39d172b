import type { ToFrame, ToHost } from "./host-frame.ts";
import { chooseLanguage, directionOf } from "./language.ts";
import { WIDGET_STYLE } from "./widget-style.ts";
import { WIDGET_TEXTS } from "./widget-texts.ts";

/** The channels whose chats this page has, should a site include the script twice. Shared by all copies of the script. */
const started = ((window as { parleyStarted?: Set<string> }).parleyStarted ??= new Set());

/** How long a chat may take to speak up when its frame is loaded. */
const GRACE_MS = 1_000;

/**
 * `<script src="…/widget.js" data-channel="chn_…">`: a button on the site, and the chat in a frame of our own origin,
 * which the site can neither read nor restyle. Optional: `data-user` with `data-user-hash` and `data-user-expires`,
 * `data-locale`, `data-position` (`left` or `right`), `data-color-scheme` (`light` or `dark`).
 */
function start(script: HTMLScriptElement): void {
  const { channel, position, colorScheme } = script.dataset;
  if (!channel || started.has(channel)) return;
  started.add(channel);
  const { language } = chooseLanguage([script.dataset.locale ?? null, ...navigator.languages]);
  const texts = WIDGET_TEXTS[language];
  const address = frameAddress(script, channel);

  const element = document.createElement("parley-chat");
  element.dataset.parley = channel;
  const shadow = element.attachShadow({ mode: "open" });
  // A sheet made here is subject to no policy of the site's; a style element would be.
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(WIDGET_STYLE);
  shadow.adoptedStyleSheets = [sheet];

  const box = document.createElement("div");
  box.lang = language;
  box.dir = directionOf(language);
  box.classList.toggle("left", position === "left");
  box.classList.toggle("dark", isDark(colorScheme));
  const button = launcher();
  const count = document.createElement("span");
  count.className = "count";
  button.append(count);
  const notice = document.createElement("p");
  notice.className = "notice";
  notice.setAttribute("role", "status");
  box.append(notice, button);
  shadow.append(box);

  let frame: HTMLIFrameElement | null = null;
  /** The chat in the frame listens. */
  let here = false;
  let missing = false;
  let open = false;
  let focused = false;
  let unread = 0;
  // Which visitors have talked here is remembered by the site's own storage: only for them the frame is loaded before
  // it is asked for, to count what is unread.
  const known = memory(() => localStorage, `parley.known.${channel}`);
  const wasOpen = memory(() => sessionStorage, `parley.open.${channel}`);

  const post = (message: ToFrame) => {
    if (here) frame?.contentWindow?.postMessage(message, address.origin);
  };

  function load(): void {
    if (frame) return;
    frame = document.createElement("iframe");
    frame.className = "frame";
    frame.title = texts.chat;
    frame.allow = "clipboard-write";
    // A frame that the browser refused to fill is loaded too: what tells is that no chat speaks up in it.
    frame.addEventListener("load", () => setTimeout(() => miss(!here), GRACE_MS));
    frame.src = address.href;
    box.prepend(frame);
  }

  /** `focus` is false where nobody asked: a chat that was open on the last page comes back without taking the focus. */
  function toggle(next: boolean, focus = true): void {
    open = next;
    focused = focus;
    load();
    wasOpen.set(open);
    box.classList.toggle("open", open);
    describe();
    if (open && focus) frame?.focus();
    post(open ? { parley: "opened", focus } : { parley: "closed" });
    if (!open && focus) button.focus();
  }

  function warn(): void {
    const asks = `Is ${channel} a web channel, and do its allowedOrigins name ${location.origin}?`;
    console.warn(`Parley: no chat at ${address.origin}. ${asks}`);
  }

  function miss(next: boolean): void {
    if (next) warn();
    missing = next;
    box.classList.toggle("missing", missing);
    describe();
  }

  function describe(): void {
    button.setAttribute("aria-expanded", String(open));
    // A text that appears is announced; one that was there before is not.
    notice.textContent = missing && open ? texts.missing : "";
    const action = open ? texts.close : texts.open;
    button.setAttribute("aria-label", unread > 0 && !open ? `${action}, ${unread} ${texts.unread}` : action);
    count.textContent = unread > 0 && !open ? (unread > 99 ? "99+" : String(unread)) : "";
  }

  button.addEventListener("click", () => toggle(!open));
  // On the button alone: elsewhere on the site Escape means something else.
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && open) toggle(false);
  });
  addEventListener("message", ({ data, source, origin }: MessageEvent<ToHost | null>) => {
    if (!frame || source !== frame.contentWindow || origin !== address.origin) return;
    if (data?.parley === "here") {
      here = true;
      // On a phone the chat's own button closes it, and until then the launcher does.
      box.classList.add("here");
      miss(false);
      if (open) post({ parley: "opened", focus: focused });
    }
    if (data?.parley === "close") toggle(false);
    if (data?.parley === "known") known.set(true);
    if (data?.parley === "unread" && Number.isSafeInteger(data.count)) {
      unread = data.count;
      describe();
    }
  });
  followKeyboard(box);

  describe();
  void isAvailable(address).then((available) => {
    if (!available) return warn();
    document.body.append(element);
    if (wasOpen.get() && innerWidth > 480) toggle(true, false);
    else if (known.get() || script.dataset.user) whenIdle(load);
  });
}

/** Whether this site may show the chat. True if nobody can say: the frame then finds out. */
async function isAvailable({ origin, pathname }: URL): Promise<boolean> {
  try {
    const response = await fetch(`${origin}${pathname}/availability`, { credentials: "omit" });
    const { available } = (await response.json()) as { available?: boolean };
    return available !== false;
  } catch {
    return true;
  }
}

/** The page in the frame. What it must know stands in the fragment, which no server ever sees. */
function frameAddress(script: HTMLScriptElement, channel: string): URL {
  const { user, userHash, userExpires, locale, colorScheme } = script.dataset;
  const url = new URL(`/web/${encodeURIComponent(channel)}`, script.src);
  const fragment = new URLSearchParams({ host: location.origin });
  if (user) fragment.set("user", user);
  if (userHash) fragment.set("hash", userHash);
  if (userExpires !== undefined) fragment.set("expires", userExpires);
  if (locale) fragment.set("locale", locale);
  if (colorScheme) fragment.set("scheme", colorScheme);
  url.hash = String(fragment);
  return url;
}

function launcher(): HTMLButtonElement {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "launcher";
  button.append(
    drawing("bubble", "M21 12a8 8 0 0 1-8 8H4l2-3.5A8 8 0 1 1 21 12ZM9 12h.01M13 12h.01M17 12h.01"),
    drawing("x", "M6 6l12 12M18 6 6 18"),
  );
  return button;
}

function drawing(name: string, path: string): SVGElement {
  const namespace = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(namespace, "svg");
  svg.setAttribute("class", name);
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const line = document.createElementNS(namespace, "path");
  line.setAttribute("d", path);
  svg.append(line);
  return svg;
}

function isDark(wish: string | undefined): boolean {
  return wish === "dark" || (wish !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
}

/** One flag, forgotten where the site's storage is blocked. */
function memory(store: () => Storage, name: string): { get(): boolean; set(value: boolean): void } {
  return {
    get: () => {
      try {
        return store().getItem(name) !== null;
      } catch {
        return false;
      }
    },
    set: (value) => {
      try {
        if (value) store().setItem(name, "1");
        else store().removeItem(name);
      } catch {
        // Then nothing is remembered.
      }
    },
  };
}

/** On a phone the frame covers what is visible above the keyboard; a frame can't see the keyboard by itself. */
function followKeyboard(element: HTMLElement): void {
  const viewport = window.visualViewport;
  viewport?.addEventListener("resize", () => {
    const covered = viewport.scale === 1 && innerHeight - viewport.height > 1;
    element.style.setProperty("--height", covered ? `${viewport.height}px` : "100dvh");
  });
}

function whenIdle(work: () => void): void {
  if ("requestIdleCallback" in window) requestIdleCallback(work, { timeout: 4_000 });
  else setTimeout(work, 1_000);
}

const script =
  document.currentScript instanceof HTMLScriptElement
    ? document.currentScript
    : document.querySelector<HTMLScriptElement>('script[data-channel][src*="widget.js"]');
if (script && document.body) start(script);
else if (script) addEventListener("DOMContentLoaded", () => start(script));
