import type { ShownSettings } from "../../model/page-facts.ts";
import type { Accent } from "./accent.ts";
import type { Scheme } from "./scheme.ts";

/** What the console asks the preview of the visitors' page to draw. */
export interface PreviewRequest {
  parley: "preview";
  /** The channel's. */
  name: string;
  /** Not saved, and perhaps not good yet. */
  settings: ShownSettings;
  scheme: Scheme;
  /** The visitor's language. */
  locale: string;
  /** `open` and `closed`: the next time that the company is. */
  when: "now" | "open" | "closed";
}

/** What the preview tells the console: first that it is there, then what it drew. */
export type PreviewReport =
  | { parley: "here" }
  | {
      parley: "drawn";
      isOpen: boolean;
      /** What the accent color becomes; null if it is not a color. */
      shades: Record<Scheme, (Accent & { given: string; contrast: number }) | null>;
      /** The page's own texts in the visitor's language, by name. */
      texts: Record<string, string>;
      /** How the browser took the logo of this address; null until it is known. */
      logo: { url: string; loads: boolean; isSquare: boolean } | null;
    };
