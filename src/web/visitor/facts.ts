import type { Appearance, PageFacts } from "../../model/page-facts.ts";

const NONE: PageFacts = {
  isOpen: true,
  changesAt: null,
  hideWhenClosed: false,
  title: "",
  accentColor: null,
  logoUrl: null,
  uploads: "off",
  greeting: null,
  starters: [],
  texts: {},
  askContact: "never",
};

/** What the server wrote into the page about its channel. A page that is older or newer than this script lacks some. */
export function readFacts(json: string | undefined): PageFacts {
  try {
    return { ...NONE, ...(JSON.parse(json ?? "{}") as Partial<PageFacts>) };
  } catch {
    return NONE;
  }
}

/** The shortest pause before the service is asked again, should its clock be behind the visitor's. */
const PAUSE_MS = 60_000;

/** Asks the service for the facts again when the company opens or closes. @returns a function that asks if that was missed */
export function followHours(channelId: string, first: PageFacts, onChange: (facts: PageFacts) => void): () => void {
  let facts = first;
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function ask(): Promise<void> {
    clearTimeout(timer);
    timer = setTimeout(() => void ask(), PAUSE_MS);
    try {
      const response = await fetch(`/web/${channelId}/availability`, { cache: "no-store" });
      facts = { ...facts, ...((await response.json()) as Partial<Appearance>) };
      onChange(facts);
    } catch {
      return;
    }
    plan();
  }

  function plan(): void {
    clearTimeout(timer);
    if (facts.changesAt === null) return;
    const wait = Date.parse(facts.changesAt) - Date.now();
    timer = setTimeout(() => void ask(), wait > 0 ? wait + 1_000 : PAUSE_MS);
  }

  plan();
  return () => {
    // A sleeping device stops timers.
    if (facts.changesAt !== null && Date.parse(facts.changesAt) <= Date.now()) void ask();
  };
}
