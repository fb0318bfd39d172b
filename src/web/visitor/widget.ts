import type { Appearance } from "../../model/page-facts.ts";
import type { ToHost } from "./host-frame.ts";
import { chooseLanguage } from "./language.ts";
import { siteFlag } from "./site-flag.ts";
import { publishCalls, readUser, type SiteUser } from "./widget-api.ts";
import { widgetBox } from "./widget-box.ts";
import { frameAddress, widgetFrame } from "./widget-frame.ts";
import { ENGLISH, type WidgetTexts } from "./widget-texts.ts";

/** The channels with a widget on this page. All copies of the script share the set, so each channel gets one widget. */
const started = ((window as { parleyStarted?: Set<string> }).parleyStarted ??= new Set());

/** Whether this site may show the chat, and how. */
type Facts = { available?: boolean } & Partial<Appearance>;

/**
 * `<script src="…/widget.js" data-channel="chn_…">` adds a button to the site, and a frame with the chat from our origin,
 * which the site can't read or restyle. Optional: `data-user` with `data-user-hash` and `data-user-expires`,
 * `data-user-name`, `data-locale`, `data-position` (`left` or `right`), `data-offset` (pixels), `data-color-scheme` (`light` or `dark`),
 * `data-accent`, `data-launcher="off"`. The site's code calls `window.Parley`.
 */
function start({ dataset, src }: HTMLScriptElement): void {
  const { channel } = dataset;
  if (!channel) console.warn("Parley: the script needs a data-channel");
  if (!channel || started.has(channel)) return;
  started.add(channel);
  const { language } = chooseLanguage([dataset.locale ?? null, ...navigator.languages]);
  const address = new URL(`/web/${encodeURIComponent(channel)}`, src);
  const { element, box, button, ...look } = widgetBox(dataset, language);
  const frame = widgetFrame(box, address, { onMessage: hear, onMissing: miss });

  let texts = ENGLISH;
  let user = userOf(dataset);
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

  const describe = () => look.describe({ open, unread, missing, texts });
  const hasFocus = () => document.activeElement === element;
  /** Whether the frame is needed now. Others get it when they open the chat. */
  const isWanted = () => open || known.get() || user || isLeaving;
  const frameSrc = () => frameAddress(address, dataset, user, isLeaving);

  // What does a site mean that removes the widget? If it takes the widget itself and something of the page's content
  // stays, it wants the widget gone. All else is another page, on which the widget stays: Turbo and Astro replace the
  // body, htmx all that is in it, and React all but scripts and styles, or even the document's element.
  const watch = new MutationObserver((records) => {
    const { body } = document;
    if (element.isConnected ? !frame.isMoved() : !body) return;
    frame.drop();
    const added = records.flatMap(({ addedNodes }) => [...addedNodes]);
    const stays = (each: Element) => !each.matches("script,style,link") && !added.some((node) => node.contains(each));
    if (!element.parentNode && [...body.children].some(stays)) return watch.disconnect();
    focused = false;
    place();
    if (isWanted()) load();
  });

  function place(): void {
    if (!element.isConnected) {
      // A cached copy of a page brings a copy of the widget, in which nothing is.
      for (const each of document.querySelectorAll("parley-chat")) if (!each.shadowRoot) each.remove();
      document.body.append(element);
    }
    watch.observe(document, { childList: true, subtree: true });
  }

  /** Loads the chat, again if the site has removed it. Nothing loads where the site has taken the widget away. */
  function load(): void {
    if (element.isConnected) frame.load(frameSrc(), texts.chat);
  }

  function hear(message: ToHost): void {
    if (message.parley === "here") {
      // The page has forgotten before it said so.
      isLeaving = false;
      leaves.set(null);
      if (open) frame.post({ parley: "opened", focus: focused });
    }
    if (message.parley === "close") toggle(false);
    if (message.parley === "known" && !user) known.set("1");
    if (message.parley === "unread") showUnread(message.count);
    if (message.parley === "message") emit("message", { seq: message.seq, direction: message.direction });
  }

  function showUnread(next: number): void {
    if (next === unread) return;
    unread = next;
    describe();
    emit("unread", unread);
  }

  function miss(next: boolean): void {
    if (next) warn();
    missing = next;
    describe();
  }

  function warn(): void {
    const asks = `Is ${channel} a web channel whose allowedOrigins name ${location.origin}?`;
    console.warn(`Parley: no chat at ${address.origin}. ${asks}`);
  }

  /** `focus` is false if the chat reopens on the site's next page, because the visitor didn't ask for it there. */
  function toggle(next: boolean, focus = true): void {
    const changed = open !== next;
    const hadFocus = hasFocus();
    if (next && changed) opener = element.shadowRoot?.activeElement ?? document.activeElement;
    open = next;
    focused = focus;
    if (open) {
      place();
      load();
    }
    opened.set(open ? "1" : "0");
    describe();
    if (open && focus) frame.focus();
    frame.post(open ? { parley: "opened", focus } : { parley: "closed" });
    // The site may close the chat while the visitor is elsewhere on the page.
    if (!open && hadFocus) {
      const isThere = opener instanceof HTMLElement && opener !== document.body && opener.isConnected;
      (isThere ? (opener as HTMLElement) : button).focus();
    }
    if (changed) emit(open ? "open" : "close");
  }

  /** Opens or closes by the site's wish, once the service has said that the chat may be shown. */
  function wish(next: boolean): void {
    if (available === false) warn();
    else if (available === null) isWished = next;
    else if (next || open) toggle(next);
  }

  /** Whether the visitor sees the chat. */
  const isShown = () => open && frame.isThere();

  button.addEventListener("click", () => toggle(!isShown()));
  // Only inside the widget: elsewhere on the site, Escape may mean something else.
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && open) toggle(false);
  });

  const emit = publishCalls({
    open: () => wish(true),
    close: () => wish(false),
    toggle: () => wish(available === null ? !isWished : !isShown()),
    identify: (next) => {
      const before = user;
      user = next;
      if (before?.user !== next.user || before.name !== next.name) renew();
      // The chat uses the new hash when it connects again.
      else frame.replace(frameSrc());
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

  /** Shows the chat of another visitor. */
  function renew(): void {
    focused = hasFocus();
    frame.drop();
    showUnread(0);
    if (!available) return;
    if (open || isLeaving) load();
    else if (user) whenIdle(load);
    if (open && focused) frame.focus();
  }

  describe();
  if (language !== "en") {
    void fetched<WidgetTexts>(new URL(`/widget/${language}.json`, address)).then((found) => {
      texts = { ...texts, ...found };
      describe();
    });
  }
  void show();

  /** Adds the button, when the company wants it to be seen. */
  async function show(): Promise<void> {
    // Nothing if the request fails; then the frame finds out.
    const asked = (await fetched<Facts>(`${address.href}/availability`)) ?? {};
    const { isOpen, hideWhenClosed, changesAt, accentColor } = asked;
    if (asked.available === false) {
      available = false;
      return warn();
    }
    const isAway = isOpen === false && hideWhenClosed;
    if (isAway) {
      const wait = Date.parse(changesAt ?? "") - Date.now();
      // Browsers start a longer timer at once.
      if (wait < 2 ** 31) setTimeout(() => void show(), Math.max(wait, 60_000));
    }
    box.classList.toggle("bare", isAway || dataset.launcher === "off");
    look.paint(accentColor);
    if (available) return;
    available = true;
    place();
    emit("ready");
    if (isWished) toggle(true);
    else if (opened.get() === "1" && innerWidth > 480) toggle(true, false);
    else if (isWanted()) whenIdle(load);
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
function userOf(dataset: DOMStringMap): SiteUser | null {
  const { user, userHash: hash = "", userExpires: expires, userName: name } = dataset;
  return readUser({ user, hash, expires, name });
}

function whenIdle(work: () => void): void {
  if ("requestIdleCallback" in window) requestIdleCallback(work, { timeout: 4_000 });
  else setTimeout(work, 1_000);
}

const script = (document.currentScript ??
  document.querySelector('script[data-channel][src*="widget.js"]')) as HTMLScriptElement | null;
if (script && document.body) start(script);
else if (script) addEventListener("DOMContentLoaded", () => start(script));
