import { render } from "preact";
import { type OpeningHours, openingAt } from "../../model/opening-hours.ts";
import { type PageFacts, pageFactsOf } from "../../model/page-facts.ts";
import { accentOf, contrastWithPage, showAccent } from "../shared/accent.ts";
import type { PreviewReport, PreviewRequest } from "../shared/preview.ts";
import type { Scheme } from "../shared/scheme.ts";
import { ChatView } from "./components/chat.tsx";
import type { Words } from "./components/words.ts";
import type { Connection, ConnectionEvents } from "./connection.ts";
import { ChatSession } from "./session.ts";
import { browserFlag, tabStorage } from "./stored.ts";
import { chooseTexts } from "./texts.ts";
import { wordsOf } from "./words-of.ts";

type Drawn = Extract<PreviewReport, { parley: "drawn" }>;

/**
 * Draws the page for the console, with settings that are not saved. It opens no socket and stores nothing: what one
 * writes stays here. Only the page around it may say what to draw, and only if it is one of the service's own.
 */
export function startPreview(root: HTMLElement): void {
  if (parent === window) return;
  const report = (what: PreviewReport) => parent.postMessage(what, location.origin);
  const storage = tabStorage("", BLOCKED);
  const session = new ChatSession({
    socketUrl: () => "",
    protocols: () => [],
    storage,
    upload: async () => ({ outcome: "stored", mediaId: "preview" }),
    canUpload: true,
    connect: connectToNobody,
    onChange: () => draw(),
  });
  let drawing: { request: PreviewRequest; facts: PageFacts; words: Words; texts: Drawn["texts"] } | null = null;
  let logo: Drawn["logo"] = null;
  let newest: PreviewRequest;

  async function take(request: PreviewRequest): Promise<void> {
    newest = request;
    const facts = factsOf(request);
    const words = { ...(await wordsOf(request.locale, facts)), user: null };
    const { texts } = await chooseTexts([request.locale], {});
    if (request !== newest) return;
    drawing = { request, facts, words, texts };
    document.documentElement.dataset.scheme = request.scheme;
    showAccent(request.scheme, facts.accentColor);
    draw();
    tell();
  }

  function draw(): void {
    if (!drawing) return;
    const { facts, words } = drawing;
    const view = { ...session.view, canUpload: facts.uploads === "everyone" };
    const kept = { storage, asked: browserFlag("", BLOCKED) };
    render(<ChatView view={view} facts={facts} words={words} {...kept} session={session} onClose={null} />, root);
  }

  function tell(): void {
    if (!drawing) return;
    const { facts, texts } = drawing;
    const color = facts.accentColor ?? "";
    const shadeIn = (scheme: Scheme) => {
      const shade = accentOf(scheme, color);
      return shade && { ...shade, given: color, contrast: contrastWithPage(color, scheme) };
    };
    const shades = { light: shadeIn("light"), dark: shadeIn("dark") };
    report({ parley: "drawn", isOpen: facts.isOpen, shades, texts, logo });
  }

  addEventListener("message", ({ data, source, origin }: MessageEvent<Partial<PreviewRequest> | null>) => {
    if (source !== parent || origin !== location.origin || data?.parley !== "preview") return;
    void take(data as PreviewRequest);
  });
  // These events of a picture don't bubble.
  for (const type of ["load", "error"]) {
    root.addEventListener(
      type,
      ({ target }) => {
        const url = drawing?.facts.logoUrl;
        if (!(target instanceof HTMLImageElement) || !url || target.getAttribute("src") !== url) return;
        logo = { url, loads: type === "load", isSquare: target.naturalWidth === target.naturalHeight };
        tell();
      },
      true,
    );
  }
  report({ parley: "here" });
}

/** What the service would say of the channel. What is not good yet counts as none. */
function factsOf({ name, settings, when }: PreviewRequest): PageFacts {
  const logoUrl = /^https:/i.test(settings.logoUrl ?? "") ? settings.logoUrl : undefined;
  const shown = { ...settings, logoUrl, title: settings.title?.trim() || undefined };
  try {
    return pageFactsOf({ name, settings: shown }, momentOf(settings.hours, when));
  } catch {
    return pageFactsOf({ name, settings: { ...shown, hours: undefined } }, Date.now());
  }
}

/** The next time that the company is open, or closed. Now if it never is. */
function momentOf(hours: OpeningHours | undefined, when: PreviewRequest["when"]): number {
  const now = Date.now();
  const { isOpen, changesAt } = openingAt(hours, now);
  return when === "now" || isOpen === (when === "open") ? now : (changesAt ?? now);
}

/** A connection that takes every message, and tells nobody. */
function connectToNobody(_url: unknown, _protocols: unknown, { onFrame }: ConnectionEvents): Connection {
  let seq = 0;
  const answer: typeof onFrame = (frame) => queueMicrotask(() => onFrame(frame));
  answer({ type: "ready", chatId: null, messages: [], lastSeq: 0, events: null, features: ["contact", "uploads"] });
  return {
    send: (frame) => {
      if (frame.type === "message") answer({ type: "stored", id: frame.id, messageId: `msg_${++seq}`, seq });
    },
    restart: () => undefined,
    close: () => undefined,
  };
}

const BLOCKED = () => {
  throw new Error("The preview stores nothing");
};
