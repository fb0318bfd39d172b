import { placeholdersOf } from "../../../model/placeholder.ts";

/** A part of a template's text that looks like a placeholder but is not a valid one. */
export interface TemplateFault {
  text: string;
  isOpen: boolean;
}

const SHOWN = 24;

/** The first placeholder that is not closed, or that has no possible name; null if there is none. */
export function faultIn(body: string): TemplateFault | null {
  for (let at = body.indexOf("{{"); at >= 0; ) {
    const close = body.indexOf("}}", at);
    const end = close + 2;
    if (close < 0 || placeholdersOf(body.slice(at, end)) === null) return faultAt(body, at, close);
    at = body.indexOf("{{", end);
  }
  return null;
}

function faultAt(body: string, at: number, close: number): TemplateFault {
  const next = body.indexOf("{{", at + 2);
  const isOpen = close < 0 || (next >= 0 && next < close);
  const end = isOpen ? Math.min(body.length, at + SHOWN) : close + 2;
  return { text: body.slice(at, end).split("\n")[0] ?? "", isOpen };
}
