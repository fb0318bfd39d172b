import { render } from "preact";
import { showAccent } from "../shared/accent.ts";
import { fetchLater, laterComesFrom } from "../shared/fetch-later.ts";
import { followScheme } from "../shared/scheme.ts";
import { ChatView } from "./components/chat.tsx";
import type { Words } from "./components/words.ts";
import { newestSeq, type Tapped } from "./conversation.ts";
import { followHours, readFacts } from "./facts.ts";
import { hostFrame } from "./host-frame.ts";
import { forgetChannel, identify, keepToken, keptToken, subprotocols, tokenKey, userIn } from "./identity.ts";
import { ChatSession, type ChosenFile, type SessionView } from "./session.ts";
import { browserFlag, tabStorage } from "./stored.ts";
import { wordsOf } from "./words-of.ts";

laterComesFrom(() => import("../shared/later.ts"));

/** One frame of a screen. */
const DRAW_MS = 16;

/** Starts the page. The visitor's identity is in the URL fragment, which browsers never send. */
function start(root: HTMLElement, channelId: string): void {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const host = hostFrame(fragment, window);
  const forget = () => {
    for (const store of [() => localStorage, () => sessionStorage]) forgetChannel(channelId, store);
  };
  // Only for the widget: a link must not make a visitor lose their chat.
  if (host && fragment.has("fresh")) {
    forget();
    fragment.delete("fresh");
    history.replaceState(null, "", `#${String(fragment)}`);
  }
  let facts = readFacts(root.dataset.facts);
  const color = fragment.get("accent") || facts.accentColor;
  followScheme(fragment.get("scheme"), (scheme) => showAccent(color, scheme));
  followKeyboard();

  let identity = identify(fragment, channelId, () => localStorage);
  const owner = identity.kind === "user" ? `${channelId}.${identity.user}` : channelId;
  const storage = tabStorage(owner, () => sessionStorage);

  const asked = browserFlag(`asked.${owner}`, () => localStorage);
  const session = new ChatSession({
    socketUrl: (after, events) => socketUrl(channelId, after, events),
    protocols: () => subprotocols(identity),
    storage,
    canUpload: facts.uploads === "everyone" || (facts.uploads === "verified" && identity.kind === "user"),
    upload: async (call) => {
      const { uploadFile } = await fetchLater();
      return uploadFile(`/web/${channelId}/media`, { Authorization: `Bearer ${subprotocols(identity)?.[1]}` }, call);
    },
    onChange: (view) => show(view),
  });
  /** The visitor's token from now on. Another tab may have kept it first: this one goes on in its chat. */
  const takeToken = (token: string) => {
    if (identity.kind === "user" || identity.token === token) return;
    identity = { kind: "token", token };
    session.reconnect();
  };
  /** Writes, and keeps an anonymous visitor's token with the first message. */
  const withToken = (write: () => void) => {
    if (identity.kind === "token") takeToken(keepToken(channelId, identity.token, () => localStorage));
    write();
  };
  const actions = {
    write: (text: string, about?: { choice?: Tapped; replyTo?: string | undefined }) =>
      withToken(() => session.write(text, about)),
    react: (seq: number, emoji: string | null) => session.react(seq, emoji),
    sendFiles: (text: string, files: readonly ChosenFile[], replyTo?: string) =>
      withToken(() => session.sendFiles(text, files, replyTo)),
    withdraw: (id: string) => session.withdraw(id),
    tellContact: (contact: { name?: string; email?: string }) => session.tellContact(contact),
    wasAsked: asked.get,
    setAsked: asked.set,
    typing: () => session.typing(),
    sendAgain: (id: string) => session.sendAgain(id),
    loadOlder: () => session.loadOlder(),
    close: host && (() => host.post({ parley: "close" })),
  };
  const { title } = document;
  /** The number that the widget has, or the title shows; null before. */
  let unread: number | null = null;
  /** The newest message that was reported to the site; null until the history is here. */
  let told: number | null = null;
  let known = false;
  /** The token of the anonymous visitor that the site's user was in this browser, until the server has it. */
  let former = identity.kind === "user" ? keptToken(channelId, () => localStorage) : null;

  let words: Words | null = null;
  // The socket opens while the texts load.
  const drawn = wordsOf(fragment.get("locale"), facts).then((found) => {
    words = { ...found, user: identity.kind === "user" ? fragment.get("name") || identity.user : null };
    draw();
  });
  const focusBox = () => void drawn.then(() => document.querySelector("textarea")?.focus());

  let drawing: ReturnType<typeof setTimeout> | undefined;

  function draw(): void {
    clearTimeout(drawing);
    drawing = undefined;
    if (words)
      render(<ChatView view={session.view} facts={facts} words={words} storage={storage} actions={actions} />, root);
  }

  function show(view: SessionView): void {
    // Changes come in bursts: an opened chat receives one status for each message that was just read.
    drawing ??= setTimeout(draw, DRAW_MS);
    const { entries, caughtUp } = view.conversation;
    // Until all is there, a widget that has built its frame again keeps its number.
    if (view.unread !== unread && (caughtUp || unread !== null)) {
      unread = view.unread;
      if (host) host.post({ parley: "unread", count: unread });
      else document.title = unread > 0 ? `(${unread}) ${title}` : title;
    }
    if (!known && (known = entries.length > 0)) host?.post({ parley: "known" });
    if (caughtUp) {
      const news = told === null ? [] : entries.filter(({ message }) => message.seq > (told ?? 0));
      told = newestSeq(view.conversation);
      for (const { message } of news) host?.post({ parley: "message", seq: message.seq, direction: message.direction });
    }
    if (known && former) nameFormerChat(former);
  }

  /** Tells which chat this browser had before its visitor signed in. */
  function nameFormerChat(anonymousToken: string): void {
    former = null;
    if (!session.tellContact({ anonymousToken })) former = anonymousToken;
  }

  const checkHours = followHours(channelId, facts, (next) => {
    facts = next;
    draw();
  });

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
    if (document.visibilityState !== "visible") return;
    session.wake();
    checkHours();
  });
  addEventListener("online", () => session.wake());
  addEventListener("offline", () => session.networkLost());
  addEventListener("storage", ({ key, newValue }) => {
    if (key !== tokenKey(channelId) || identity.kind === "user") return;
    const kept = keptToken(channelId, () => localStorage);
    if (kept) return takeToken(kept);
    if (newValue !== null) return;
    // The visitor was logged out in another tab.
    forget();
    location.reload();
  });
  addEventListener("hashchange", () => {
    const next = userIn(new URLSearchParams(location.hash.slice(1)));
    const isSame = next !== null && identity.kind === "user" && identity.user === next.user;
    // The same user with a new hash stays connected, unless the one before was refused. Else it is another visitor.
    if (isSame && typeof session.view.link === "string" && subprotocols(next)) identity = next;
    else location.reload();
  });
  look();
  host?.post({ parley: "here" });
  // Not on a phone, whose keyboard would cover the page.
  if (!host && matchMedia("(pointer: fine)").matches) focusBox();
}

function socketUrl(channelId: string, after: number, events: number | null): string {
  const since = events === null ? "" : `&events=${events}`;
  const url = new URL(`/web/${channelId}/socket?after=${after}${since}`, location.href);
  url.protocol = url.protocol === "http:" ? "ws:" : "wss:";
  return url.href;
}

function closeByEscape(close: () => void): void {
  addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !event.isComposing) close();
  });
}

/** Fits the page to the visible area, because some phones show the keyboard over the page. */
function followKeyboard(): void {
  const viewport = window.visualViewport;
  if (!viewport) return;
  const apply = () => {
    // A scale above 1 is a pinch zoom, not a keyboard.
    const covered = viewport.scale === 1 && innerHeight - viewport.height > 1;
    document.documentElement.style.setProperty("--height", covered ? `${viewport.height}px` : "100dvh");
    if (covered) scrollTo(0, 0);
  };
  viewport.addEventListener("resize", apply);
}

const root = document.getElementById("chat");
if (root?.dataset.channel) start(root, root.dataset.channel);
else if (root) void import("./preview.tsx").then(({ startPreview }) => startPreview(root));
