import { escapeHtml } from "../../platform/html.ts";
import type { Highlighter } from "./highlight.ts";

/** One line of a description: plain text, with code between backticks. */
export function inline(text: string): string {
  return escapeHtml(text).replace(/`([^`]+)`/g, "<code>$1</code>");
}

/** A description: paragraphs, and lists of lines that begin with a dash. */
export function prose(text: string): string {
  return text
    .split("\n\n")
    .map((block) => {
      if (!block.startsWith("- ")) return `<p>${inline(block)}</p>`;
      const items = block.split("\n").map((line) => `<li>${inline(line.slice(2))}</li>`);
      return `<ul>${items.join("")}</ul>`;
    })
    .join("\n");
}

/** A piece of code. `label` names its tab and its copy button. */
export interface Sample {
  code: string;
  language: string;
  label: string;
}

/** A block of code. The client script adds a copy button to it. */
export function codeBlock({ code, language, label }: Sample, { highlight }: Highlighter): string {
  return `<div class="code" data-label="${escapeHtml(label)}"><pre tabindex="0"><code>${highlight(code, language)}</code></pre></div>`;
}

/** The same code in several languages. Without the client script, all blocks show, each below its label. */
export function codeTabs(samples: readonly Sample[], highlighter: Highlighter): string {
  const panels = samples.map(
    (sample) =>
      `<div class="panel" data-tab="${escapeHtml(sample.label)}"><p class="label">${escapeHtml(sample.label)}</p>${codeBlock(sample, highlighter)}</div>`,
  );
  return `<div class="tabs">${panels.join("\n")}</div>`;
}

export function methodBadge(method: string): string {
  return `<span class="method ${method.toLowerCase()}">${method}</span>`;
}

/** A status as a badge. Its class is that of its hundred: `s2xx`, `s4xx`, `s5xx`. */
export function statusBadge(status: number | string): string {
  return `<span class="status s${String(status)[0]}xx">${status}</span>`;
}

/** The id of a heading: `Rate limits` becomes `rate-limits`, as on code hosts. */
export function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replace(/\s/g, "-");
}
