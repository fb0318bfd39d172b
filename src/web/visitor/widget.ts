import type { Appearance } from "../../channels/web/page-settings.ts";
import { accentOf } from "../shared/accent.ts";
import type { ToFrame, ToHost } from "./host-frame.ts";
import { chooseLanguage, directionOf } from "./language.ts";
import { publishCalls, type SiteUser } from "./widget-api.ts";
import { WIDGET_STYLE } from "./widget-style.ts";
import { WIDGET_TEXTS } from "./widget-texts.ts";

/** The channels with a widget on this page. All copies of the script share the set, so each channel gets one widget. */
const started = ((window as { parleyStarted?: Set<string> }).parleyStarted ??= new Set());

/** The time within which a loaded frame must report itself. */
const REPORT_TIMEOUT_MS = 1_000;

/**
 * `<script src="…/widget.js" data-channel="chn_…">` adds a button to the site, and a frame with the chat from our origin,
 * which the site can't read or restyle. Optional: `data-user` with `data-user-hash` and `data-user-expires`,
 * `data-user-name`, `data-locale`, `data-position` (`left` or `right`), `data-color-scheme` (`light` or `dark`),
 * `data-accent`, `data-launcher="off"`. The site's code calls `window.Parley`.
 */
function start(script: HTMLScriptElement): void {
  const { channel, position, colorScheme, launcher: wanted, accent } = script.dataset;
  if (!channel || started.has(channel)) return;
  started.add(channel);
  const { language } = chooseLanguage([script.dataset.locale ?? null, ...navigator.languages]);
  const texts = WIDGET_TEXTS[language];
  const address = new URL(`/web/${encodeURIComponent(channel)}`, script.src);
  let user = userOf(script);

  const element = document.createElement("parley-chat");
  element.dataset.parley = channel;
  const shadow = element.attachShadow({ mode: "open" });
  // The site's policy could block a style element, but not a constructed style sheet.
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
  /** Whether the chat in the frame is running. */
  let here = false;
  /** Whether the service shows the chat on this site. Null until it has said so. */
  let available: boolean | null = null;
  /** Whether the site asked for the chat to be open before that. */
  let isWished = false;
  let missing = false;
  let open = false;
  let focused = false;
  let unread = 0;
  // The site's storage remembers visitors with a chat. Only for them is the frame loaded before it is opened, to count
  // unread messages.
  const known = memory(() => localStorage, `parley.known.${channel}`);
  const wasOpen = memory(() => sessionStorage, `parley.open.${channel}`);

  const post = (message: ToFrame) => {
    if (here) frame?.contentWindow?.postMessage(message, address.origin);
  };

  /** @param isFresh whether the page first forgets what this browser keeps for the channel */
  function load(isFresh = false): void {
    // The site may have removed them.
    if (!element.isConnected) document.body.append(element);
    if (frame?.isConnected) return;
    here = false;
    frame = document.createElement("iframe");
    frame.className = "frame";
    frame.title = texts.chat;
    frame.allow = "clipboard-write";
    // The load event also fires if the browser blocked the page, but then no chat reports itself.
    frame.addEventListener("load", () => setTimeout(() => miss(!here), REPORT_TIMEOUT_MS));
    frame.src = frameAddress(address, script, user, isFresh);
    box.prepend(frame);
  }

  /** Takes the frame away, with everything that it says. */
  function drop(): void {
    frame?.remove();
    frame = null;
    here = false;
    box.classList.remove("here");
    showUnread(0);
  }

  function showUnread(next: number): void {
    if (next === unread) return;
    unread = next;
    describe();
    emit("unread", unread);
  }

  /** `focus` is false if the chat reopens on the site's next page, because the visitor didn't ask for it there. */
  function toggle(next: boolean, focus = true): void {
    const changed = open !== next;
    open = next;
    focused = focus;
    load();
    wasOpen.set(open);
    box.classList.toggle("open", open);
    describe();
    if (open && focus) frame?.focus();
    post(open ? { parley: "opened", focus } : { parley: "closed" });
    if (!open && focus) button.focus();
    if (changed) emit(open ? "open" : "close");
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
    // Screen readers announce only a text that changes.
    notice.textContent = missing && open ? texts.missing : "";
    const action = open ? texts.close : texts.open;
    button.setAttribute("aria-label", unread > 0 && !open ? `${action}, ${unread} ${texts.unread}` : action);
    count.textContent = unread > 0 && !open ? (unread > 99 ? "99+" : String(unread)) : "";
  }

  button.addEventListener("click", () => toggle(!open));
  // Only inside the widget: elsewhere on the site, Escape may mean something else.
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && open) toggle(false);
  });
  addEventListener("message", ({ data, source, origin }: MessageEvent<ToHost | null>) => {
    if (!frame || source !== frame.contentWindow || origin !== address.origin) return;
    if (data?.parley === "here") {
      here = true;
      // On a phone, this hides the launcher, because the chat has its own close button.
      box.classList.add("here");
      miss(false);
      if (open) post({ parley: "opened", focus: focused });
    }
    if (data?.parley === "close") toggle(false);
    if (data?.parley === "known") known.set(true);
    if (data?.parley === "unread" && Number.isSafeInteger(data.count)) showUnread(data.count);
    if (data?.parley === "message") emit("message", { seq: data.seq, direction: data.direction });
  });
  followKeyboard(box);

  /** Opens or closes by the site's wish, once the service has said that the chat may be shown. */
  function wish(next: boolean): void {
    if (available === false) warn();
    else if (available === null) isWished = next;
    else if (next !== open) toggle(next);
  }

  const emit = publishCalls({
    open: () => wish(true),
    close: () => wish(false),
    toggle: () => wish(available === null ? !isWished : !open),
    identify: (next) => {
      user = next;
      renew();
    },
    logout: () => {
      user = null;
      known.set(false);
      if (open) wish(false);
      renew(true);
    },
  });

  /** Shows the chat of another visitor. What the frame still says of the one before is not heard. */
  function renew(isFresh = false): void {
    drop();
    if (available && (open || isFresh)) load(isFresh);
    else if (available) whenIdle(() => load());
  }

  describe();
  void show();

  /** Adds the button, when the company wants it to be seen. */
  async function show(): Promise<void> {
    const asked = await askService(address);
    const { isOpen, hideWhenClosed, changesAt, accentColor } = asked;
    if (asked.available === false) {
      available = false;
      return warn();
    }
    const isAway = isOpen === false && hideWhenClosed === true;
    if (isAway) {
      const wait = changesAt ? Date.parse(changesAt) - Date.now() : Number.NaN;
      // Browsers start a longer timer at once.
      if (wait < 2 ** 31) setTimeout(() => void show(), Math.max(wait, 60_000));
    }
    box.classList.toggle("bare", isAway || wanted === "off");
    const color = accent ?? accentColor;
    const shades = color ? accentOf(color, "light") : null;
    if (shades) {
      box.style.setProperty("--accent", shades.accent);
      box.style.setProperty("--accent-hover", shades.hover);
      box.style.setProperty("--on-accent", shades.onAccent);
    }
    if (available) return;
    available = true;
    document.body.append(element);
    emit("ready");
    if (isWished) toggle(true);
    else if (wasOpen.get() && innerWidth > 480) toggle(true, false);
    else if (known.get() || user) whenIdle(() => load());
  }
}

/** Whether this site may show the chat, and how. Nothing if the request fails; then the frame finds out. */
async function askService({ origin, pathname }: URL): Promise<{ available?: boolean } & Partial<Appearance>> {
  try {
    const response = await fetch(`${origin}${pathname}/availability`, { credentials: "omit" });
    return (await response.json()) as { available?: boolean } & Partial<Appearance>;
  } catch {
    return {};
  }
}

/** The user whom the script's attributes name. */
function userOf({ dataset }: HTMLScriptElement): SiteUser | null {
  const { user, userHash = "", userExpires, userName } = dataset;
  if (!user) return null;
  return {
    user,
    hash: userHash,
    ...(userExpires !== undefined && { expires: userExpires }),
    ...(userName && { name: userName }),
  };
}

/** The address of the frame's page. Its settings are in the fragment, which browsers never send. */
function frameAddress(address: URL, { dataset }: HTMLScriptElement, user: SiteUser | null, isFresh: boolean): string {
  const { locale, colorScheme, accent } = dataset;
  const fragment = new URLSearchParams({ host: location.origin });
  const settings = { ...user, locale, scheme: colorScheme, accent, fresh: isFresh ? "1" : "" };
  for (const [name, value] of Object.entries(settings)) {
    if (value || name === "expires") fragment.set(name, String(value ?? ""));
  }
  return `${address.href}#${String(fragment)}`;
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

function isDark(requested: string | undefined): boolean {
  return requested === "dark" || (requested !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
}

/** A flag in the site's storage, or always false if storage is blocked. */
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
        // Storage is blocked.
      }
    },
  };
}

/** Fits the frame to the visible area above a phone's keyboard, which a frame can't detect. */
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
