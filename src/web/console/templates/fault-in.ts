/** A part of a template's text that looks like a placeholder and is none. */
export interface TemplateFault {
  text: string;
  isOpen: boolean;
}

const SHOWN = 24;
const PLACEHOLDER = /^\{\{\s*(?!__proto__\s*\})[A-Za-z0-9_]{1,64}\s*\}\}/;

/** The first placeholder that is not closed, or that has no possible name; null if there is none. */
export function faultIn(body: string): TemplateFault | null {
  for (let at = body.indexOf("{{"); at >= 0; ) {
    const [whole] = PLACEHOLDER.exec(body.slice(at)) ?? [];
    if (whole === undefined) return faultAt(body, at);
    at = body.indexOf("{{", at + whole.length);
  }
  return null;
}

function faultAt(body: string, at: number): TemplateFault {
  const close = body.indexOf("}}", at);
  const next = body.indexOf("{{", at + 2);
  const isOpen = close < 0 || (next >= 0 && next < close);
  const end = isOpen ? Math.min(body.length, at + SHOWN) : close + 2;
  return { text: body.slice(at, end).split("\n")[0] ?? "", isOpen };
}
