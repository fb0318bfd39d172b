import { escapeHtml } from "../../escape-html.ts";

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

/** Text to copy; the page's script puts a button to it. */
export function code(text: string, label: string): string {
  return `<pre class="copied" data-label="${escapeHtml(label)}"><code>${escapeHtml(text)}</code></pre>`;
}

/** An example, as it lies. */
export function json(value: unknown): string {
  return `<pre><code>${escapeHtml(JSON.stringify(value, null, 2))}</code></pre>`;
}
