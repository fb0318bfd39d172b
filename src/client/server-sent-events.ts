/** One block of a stream of Server-Sent Events. */
export interface StreamBlock {
  /** The id of this block, or of the last one that had an id; null before that. */
  id: string | null;
  /** Null if the block has only an id. */
  data: string | null;
}

/**
 * Reads a stream of Server-Sent Events by the HTML standard (9.2.6). A block that is cut off at the end is dropped.
 * @param onBytes is called for everything that arrives, comments too
 */
export async function* readBlocks(
  body: ReadableStream<Uint8Array>,
  onBytes: () => void,
): AsyncGenerator<StreamBlock, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  let id: string | null = null;
  let lines: string[] = [];
  let hasId = false;
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      onBytes();
      rest += decoder.decode(value, { stream: true });
      // A line can end in CR LF, whose LF may be still to come.
      const complete = rest.split(/\r\n|\n|\r(?!$)/);
      rest = complete.pop() ?? "";
      for (const line of complete) {
        if (line === "") {
          if (lines.length > 0 || hasId) yield { id, data: lines.length > 0 ? lines.join("\n") : null };
          lines = [];
          hasId = false;
          continue;
        }
        const [, name = line, value = ""] = /^([^:]*): ?(.*)$/s.exec(line) ?? [];
        if (name === "data") lines.push(value);
        if (name === "id" && !value.includes("\0")) [id, hasId] = [value, true];
      }
    }
  } finally {
    // Closes the connection if the reader of the blocks stops early.
    await reader.cancel().catch(() => {});
  }
}
