import { render } from "preact";
import { Chat } from "./components/chat.tsx";
import { hostFrame } from "./host-frame.ts";
import { identify, subprotocols } from "./identity.ts";
import { keptFor } from "./kept.ts";
import { chooseLanguage, directionOf } from "./language.ts";
import { ChatSession, type SessionView } from "./session.ts";
import { TEXTS } from "./texts.ts";
import { timesIn } from "./times.ts";

/** The page's entry. The shell names the channel; who the visitor is stands in the fragment, which is never sent. */
function start(root: HTMLElement, channelId: string): void {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const { language, locale } = chooseLanguage([fragment.get("locale"), ...navigator.languages]);
  document.documentElement.lang = language;
  document.documentElement.dir = directionOf(language);
  followScheme(fragment.get("scheme"));
  followKeyboard();

  const host = hostFrame(fragment, window);
  const identity = identify(fragment, channelId, () => localStorage);
  const owner = identity.kind === "user" ? `${channelId}.${identity.user}` : channelId;
  const kept = keptFor(owner, () => sessionStorage);
  const texts = TEXTS[language];
  const title = root.dataset.name || texts.support;
  const words = { texts, locale, times: timesIn(locale), title };

  const session = new ChatSession({
    socketUrl: (after) => socketUrl(channelId, after),
    protocols: subprotocols(identity),
    kept,
    onChange: (view) => show(view),
  });
  const actions = {
    write: (text: string) => session.write(text),
    sendAgain: (id: string) => session.sendAgain(id),
    loadOlder: () => void session.loadOlder(),
    close: host && (() => host.post({ parley: "close" })),
  };
  let unread = 0;
  let known = false;

  function show(view: SessionView): void {
    render(<Chat view={view} words={words} kept={kept} actions={actions} />, root);
    if (view.unread !== unread) host?.post({ parley: "unread", count: (unread = view.unread) });
    if (!known && (known = view.conversation.entries.length > 0)) host?.post({ parley: "known" });
  }

  let opened = host === null;
  const look = () => session.setVisible(opened && document.visibilityState === "visible");
  host?.onMessage((message) => {
    opened = message.parley === "opened";
    look();
    if (message.parley === "opened" && message.focus) focusBox();
  });
  if (host) closeByEscape(() => host.post({ parley: "close" }));
  document.addEventListener("visibilitychange", () => {
    look();
    if (document.visibilityState === "visible") session.wake();
  });
  addEventListener("online", () => session.wake());
  addEventListener("offline", () => session.networkLost());
  // Another user in the fragment is another visitor.
  addEventListener("hashchange", () => location.reload());
  show(session.view);
  look();
  // On a page of its own the box is what one comes for; on a phone the keyboard would cover the page unasked.
  if (!host && matchMedia("(pointer: fine)").matches) focusBox();
}

function socketUrl(channelId: string, after: number): string {
  const url = new URL(`/web/${channelId}/socket?after=${after}`, location.href);
  url.protocol = url.protocol === "http:" ? "ws:" : "wss:";
  return url.href;
}

function focusBox(): void {
  document.querySelector<HTMLTextAreaElement>("textarea")?.focus();
}

function closeByEscape(close: () => void): void {
  addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !event.isComposing) close();
  });
}

/** The style sheet knows `data-scheme` alone, so that a site's wish can overrule the device's. */
function followScheme(wish: string | null): void {
  const device = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => {
    const dark = wish === "dark" || (wish !== "light" && device.matches);
    document.documentElement.dataset.scheme = dark ? "dark" : "light";
  };
  device.addEventListener("change", apply);
  apply();
}

/** Some phones lay their keyboard over the page instead of making it smaller: the page then follows what is visible. */
function followKeyboard(): void {
  const viewport = window.visualViewport;
  if (!viewport) return;
  const apply = () => {
    // A page that is zoomed by two fingers is larger than what is visible on purpose.
    const covered = viewport.scale === 1 && innerHeight - viewport.height > 1;
    document.documentElement.style.setProperty("--height", covered ? `${viewport.height}px` : "100dvh");
    if (covered) scrollTo(0, 0);
  };
  viewport.addEventListener("resize", apply);
}

const root = document.getElementById("chat");
if (root?.dataset.channel) start(root, root.dataset.channel);
