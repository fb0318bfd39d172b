import type { Appearance } from "../../model/page-facts.ts";
import { accentOf } from "../shared/accent.ts";
import type { ToFrame, ToHost } from "./host-frame.ts";
import { chooseLanguage, directionOf } from "./language.ts";
import { launcher } from "./launcher.ts";
import { siteFlag } from "./site-flag.ts";
import { publishCalls, readUser, type SiteUser } from "./widget-api.ts";
import { WIDGET_STYLE } from "./widget-style.ts";
import { ENGLISH, type WidgetTexts } from "./widget-texts.ts";

/** The channels with a widget on this page. All copies of the script share the set, so each channel gets one widget. */
const started = ((window as { parleyStarted?: Set<string> }).parleyStarted ??= new Set());

/** Whether this site may show the chat, and how. */
type Facts = { available?: boolean } & Partial<Appearance>;

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
  if (!channel) console.warn("Parley: the script needs a data-channel");
  if (!channel || started.has(channel)) return;
  started.add(channel);
  const { language } = chooseLanguage([script.dataset.locale ?? null, ...navigator.languages]);
  let texts = ENGLISH;
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
  /** What had the focus before the chat was opened. */
  let opener: Element | null = null;
  let unread = 0;
  // What the site's storage remembers: nothing before the chat is opened.
  /** An anonymous visitor has a chat. Only for them, and for the site's users, is the frame loaded before it is opened. */
  const known = siteFlag(() => localStorage, `parley.known.${channel}`);
  /** The chat is open in this tab (1), or was (0). */
  const opened = siteFlag(() => sessionStorage, `parley.open.${channel}`);
  /** The frame has yet to forget its visitors. The site may leave the page before it can. */
  const leaves = siteFlag(() => localStorage, `parley.logout.${channel}`);
  let isLeaving = Boolean(leaves.get());

  const post = (message: ToFrame) => {
    if (here) frame?.contentWindow?.postMessage(message, address.origin);
  };

  /** Loads the chat, again if the site has removed it. */
  function load(): void {
    if (!element.isConnected) document.body.append(element);
    if (frame?.isConnected) return;
    here = false;
    const loading = document.createElement("iframe");
    frame = loading;
    frame.className = "frame";
    frame.title = texts.chat;
    frame.allow = "clipboard-write";
    // The load event also fires if the browser blocked the page, but then no chat reports itself.
    frame.addEventListener("load", () => setTimeout(() => frame === loading && miss(!here), REPORT_TIMEOUT_MS));
    frame.src = frameAddress(address, script, user, isLeaving);
    box.prepend(frame);
  }

  /** Takes the frame away, with everything that it says. */
  function drop(): void {
    frame?.remove();
    frame = null;
    here = false;
    box.classList.remove("here");
    miss(false);
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
    const hadFocus = hasFocus();
    if (next && changed) opener = shadow.activeElement ?? document.activeElement;
    open = next;
    focused = focus;
    if (open) load();
    opened.set(open ? "1" : "0");
    box.classList.toggle("open", open);
    describe();
    if (open && focus) frame?.focus();
    post(open ? { parley: "opened", focus } : { parley: "closed" });
    // The site may close the chat while the visitor is elsewhere on the page.
    if (!open && hadFocus) restoreFocus();
    if (changed) emit(open ? "open" : "close");
  }

  function hasFocus(): boolean {
    return document.activeElement === element;
  }

  function restoreFocus(): void {
    const isThere = opener instanceof HTMLElement && opener !== document.body && opener.isConnected;
    (isThere ? (opener as HTMLElement) : button).focus();
  }

  /** Whether the visitor sees the chat. The site may have removed it. */
  function isShown(): boolean {
    return open && frame?.isConnected === true;
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
    button.setAttribute(
      "aria-label",
      unread > 0 && !open ? `${action}, ${texts.unread.replace("{count}", `${unread}`)}` : action,
    );
    count.textContent = unread > 0 && !open ? (unread > 99 ? "99+" : String(unread)) : "";
  }

  button.addEventListener("click", () => toggle(!isShown()));
  // Only inside the widget: elsewhere on the site, Escape may mean something else.
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && open) toggle(false);
  });
  addEventListener("message", ({ data, source, origin }: MessageEvent<ToHost | null>) => {
    if (!frame || source !== frame.contentWindow || origin !== address.origin) return;
    if (data?.parley === "here") {
      here = true;
      // The page has forgotten before it said so.
      isLeaving = false;
      leaves.set(null);
      // On a phone, this hides the launcher, because the chat has its own close button.
      box.classList.add("here");
      miss(false);
      if (open) post({ parley: "opened", focus: focused });
    }
    if (data?.parley === "close") toggle(false);
    if (data?.parley === "known" && !user) known.set("1");
    if (data?.parley === "unread" && Number.isSafeInteger(data.count)) showUnread(data.count);
    if (data?.parley === "message") emit("message", { seq: data.seq, direction: data.direction });
  });
  followKeyboard(box);

  /** Opens or closes by the site's wish, once the service has said that the chat may be shown. */
  function wish(next: boolean): void {
    if (available === false) warn();
    else if (available === null) isWished = next;
    else if (next || open) toggle(next);
  }

  const emit = publishCalls({
    open: () => wish(true),
    close: () => wish(false),
    toggle: () => wish(available === null ? !isWished : !isShown()),
    identify: (next) => {
      const before = user;
      user = next;
      if (before?.user !== next.user || before.name !== next.name) renew();
      // The chat uses the new hash when it connects again.
      else if (frame?.isConnected)
        frame.contentWindow?.location.replace(frameAddress(address, script, user, isLeaving));
    },
    logout: () => {
      // Before it is opened, the chat keeps nothing. What can't be read may be there.
      isLeaving ||= known.get() !== null || opened.get() !== null;
      if (isLeaving) leaves.set("1");
      user = null;
      if (open) wish(false);
      known.set(null);
      opened.set(null);
      renew();
    },
  });

  /** Shows the chat of another visitor. What the frame still says of the one before is not heard. */
  function renew(): void {
    focused = hasFocus();
    drop();
    if (!available) return;
    if (open || isLeaving) load();
    else if (user) whenIdle(load);
    if (open && focused) frame?.focus();
  }

  describe();
  if (language !== "en") void translate();
  void show();

  async function translate(): Promise<void> {
    texts = { ...texts, ...(await fetched<WidgetTexts>(new URL(`/widget/${language}.json`, address))) };
    describe();
  }

  /** Adds the button, when the company wants it to be seen. */
  async function show(): Promise<void> {
    // Nothing if the request fails; then the frame finds out.
    const asked = (await fetched<Facts>(`${address.href}/availability`)) ?? {};
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
    const shades = accentOf(accent ?? "", "light") ?? accentOf(accentColor ?? "", "light");
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
    else if (opened.get() === "1" && innerWidth > 480) toggle(true, false);
    else if (known.get() || user || isLeaving) whenIdle(load);
  }
}

/** What an address answers; null if it does not. */
async function fetched<T>(url: string | URL): Promise<T | null> {
  try {
    const response = await fetch(url, { credentials: "omit" });
    return response.ok ? ((await response.json()) as T) : null;
  } catch {
    return null;
  }
}

/** The user whom the script's attributes name. */
function userOf({ dataset }: HTMLScriptElement): SiteUser | null {
  const { user, userHash: hash = "", userExpires: expires, userName: name } = dataset;
  return readUser({ user, hash, expires, name });
}

/** The address of the frame's page. Its settings are in the fragment, which browsers never send. */
function frameAddress(address: URL, { dataset }: HTMLScriptElement, user: SiteUser | null, forgets: boolean): string {
  const { locale, colorScheme: scheme } = dataset;
  // An invalid color leaves the company's.
  const accent = accentOf(dataset.accent ?? "", "light") ? dataset.accent : null;
  const settings = { host: location.origin, ...user, locale, scheme, accent, fresh: forgets ? "1" : null };
  const given = Object.entries(settings).filter((pair): pair is [string, string] => typeof pair[1] === "string");
  return `${address.href}#${String(new URLSearchParams(given))}`;
}

function isDark(requested: string | undefined): boolean {
  return requested === "dark" || (requested !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
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
