import { render } from "preact";
import { showAccent } from "../shared/accent.ts";
import { fetchLater, laterComesFrom } from "../shared/fetch-later.ts";
import { followScheme } from "../shared/scheme.ts";
import { ChatView } from "./components/chat.tsx";
import type { Words } from "./components/words.ts";
import { followHours, readFacts } from "./facts.ts";
import { type HostFrame, hostFrame } from "./host-frame.ts";
import { newsFor } from "./host-news.ts";
import { forgetVisitors, pageVisitor } from "./page-visitor.ts";
import { ChatSession } from "./session.ts";
import { wordsOf } from "./words-of.ts";

laterComesFrom(() => import("../shared/later.ts"));

/** One frame of a screen. */
const DRAW_MS = 16;

/** Starts the page. The visitor's identity is in the URL fragment, which browsers never send. */
function start(root: HTMLElement, channelId: string): void {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const host = hostFrame(fragment, window);
  // Only for the widget: a link must not make a visitor lose their chat.
  if (host && fragment.has("fresh")) {
    forgetVisitors(channelId);
    fragment.delete("fresh");
    history.replaceState(null, "", `#${String(fragment)}`);
  }
  let facts = readFacts(root.dataset.facts);
  const accent = fragment.get("accent");
  followScheme(fragment.get("scheme"), (scheme) => showAccent(scheme, accent, facts.accentColor));
  followKeyboard();

  const visitor = pageVisitor(fragment, channelId, host !== null);
  const { user, storage, asked } = visitor;
  const tellNews = newsFor(host);
  const session = new ChatSession({
    socketUrl: (after, events) => socketUrl(channelId, after, events),
    protocols: visitor.protocols,
    storage,
    canUpload: facts.uploads === "everyone" || (facts.uploads === "verified" && !!user),
    upload: async (call) => {
      const { uploadFile } = await fetchLater();
      return uploadFile(`/web/${channelId}/media`, { Authorization: `Bearer ${visitor.protocols()?.[1]}` }, call);
    },
    onWrite: () => visitor.keep(session),
    onChange(view) {
      // Changes come in bursts: an opened chat receives one status for each message that was just read.
      drawing ??= setTimeout(draw, DRAW_MS);
      tellNews(view);
      if (view.conversation.entries.length > 0) visitor.tellFormer(session);
    },
  });
  visitor.follow(session);
  const close = host && (() => host.post({ parley: "close" }));

  let words: Words | null = null;
  // The socket opens while the texts load.
  const drawn = wordsOf(fragment.get("locale"), facts).then((found) => {
    // Nobody vouches for the name in a link.
    words = { ...found, user: user && ((host && fragment.get("name")) || user) };
    draw();
  });
  let drawing: ReturnType<typeof setTimeout> | undefined;

  function draw(): void {
    clearTimeout(drawing);
    drawing = undefined;
    if (!words) return;
    const { view } = session;
    render(
      <ChatView
        view={view}
        facts={facts}
        words={words}
        storage={storage}
        asked={asked}
        session={session}
        onClose={close}
      />,
      root,
    );
  }

  const checkHours = followHours(channelId, facts, (next) => {
    facts = next;
    draw();
  });
  followView(session, host, checkHours, () => void drawn.then(() => document.querySelector("textarea")?.focus()));
}

/** Follows whether the visitor sees the chat, and has a network. */
function followView(session: ChatSession, host: HostFrame | null, onSeen: () => void, focusBox: () => void): void {
  let opened = host === null;
  const look = () => session.setVisible(opened && document.visibilityState === "visible");
  host?.onOpened((isOpened, takesFocus) => {
    opened = isOpened;
    look();
    if (takesFocus) focusBox();
  });
  addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !event.isComposing) host?.post({ parley: "close" });
  });
  document.addEventListener("visibilitychange", () => {
    look();
    if (document.visibilityState !== "visible") return;
    session.wake();
    onSeen();
  });
  addEventListener("online", () => session.wake());
  addEventListener("offline", () => session.networkLost());
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
