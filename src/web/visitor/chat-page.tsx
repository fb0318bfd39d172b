import { render } from "preact";
import { Chat } from "./components/chat.tsx";
import type { Words } from "./components/words.ts";
import { hostFrame } from "./host-frame.ts";
import { identify, subprotocols } from "./identity.ts";
import { chooseLanguage, directionOf } from "./language.ts";
import { ChatSession, type SessionView } from "./session.ts";
import { keptFor } from "./stored.ts";
import { textsIn } from "./texts.ts";
import { timesIn } from "./times.ts";

/** As often as a screen is drawn. */
const DRAW_MS = 16;

/** The page's entry. The shell names the channel; who the visitor is stands in the fragment, which is never sent. */
function start(root: HTMLElement, channelId: string): void {
  const fragment = new URLSearchParams(location.hash.slice(1));
  followScheme(fragment.get("scheme"));
  followKeyboard();

  const host = hostFrame(fragment, window);
  const identity = identify(fragment, channelId, () => localStorage);
  const owner = identity.kind === "user" ? `${channelId}.${identity.user}` : channelId;
  const kept = keptFor(owner, () => sessionStorage);

  const session = new ChatSession({
    socketUrl: (after) => socketUrl(channelId, after),
    protocols: subprotocols(identity),
    kept,
    onChange: (view) => show(view),
  });
  const actions = {
    write: (text: string) => session.write(text),
    sendAgain: (id: string) => session.sendAgain(id),
    loadOlder: () => session.loadOlder(),
    close: host && (() => host.post({ parley: "close" })),
  };
  let unread = 0;
  let known = false;

  let words: Words | null = null;
  // The socket is opened meanwhile.
  const drawn = wordsOf(fragment.get("locale"), root.dataset.name ?? "").then((found) => {
    words = { ...found, user: identity.kind === "user" ? identity.user : null };
    draw();
  });
  const focusBox = () => void drawn.then(() => document.querySelector("textarea")?.focus());

  let drawing: ReturnType<typeof setTimeout> | undefined;

  function draw(): void {
    clearTimeout(drawing);
    drawing = undefined;
    if (words) render(<Chat view={session.view} words={words} kept={kept} actions={actions} />, root);
  }

  function show(view: SessionView): void {
    // Changes come in bursts: a chat that is opened after a while hears of each message of it that it is read now.
    drawing ??= setTimeout(draw, DRAW_MS);
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
  look();
  host?.post({ parley: "here" });
  // On a page of its own the box is what one comes for; on a phone the keyboard would cover the page unasked.
  if (!host && matchMedia("(pointer: fine)").matches) focusBox();
}

/** How the page speaks to this visitor; it says so of itself, too. `name` is what stands at its top, if it has one. */
async function wordsOf(wish: string | null, name: string): Promise<Omit<Words, "user">> {
  const chosen = chooseLanguage([wish, ...navigator.languages]);
  const { language, texts } = await textsIn(chosen.language);
  const locale = language === chosen.language ? chosen.locale : language;
  document.documentElement.lang = language;
  document.documentElement.dir = directionOf(language);
  return { texts, locale, times: timesIn(locale), title: name || texts.support };
}

function socketUrl(channelId: string, after: number): string {
  const url = new URL(`/web/${channelId}/socket?after=${after}`, location.href);
  url.protocol = url.protocol === "http:" ? "ws:" : "wss:";
  return url.href;
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
