import { styleText } from "node:util";
import { aligned, EMPTY, fitted, printable } from "./table.ts";
import { relativeTime } from "./times.ts";

/** The columns of a table: the path of the value in a row (`contact.name`), by the column's title. */
export type Columns = Record<string, string>;

/** A stream. `columns` is the width of a terminal. */
type Sink = { write(text: string): unknown; isTTY?: boolean; columns?: number };
type Rows = Record<string, unknown>;
type Color = "red" | "green" | "yellow" | "dim" | "bold";

const TIME_FIELD = /(?:At|[sS]ince|oldest|reset)$/;

export interface OutputOptions {
  json: boolean;
  stdout: Sink;
  stderr: Sink;
  noColor: boolean;
}

/** The output of a command. Data goes to stdout, everything else to stderr. */
export class Output {
  readonly json: boolean;
  readonly #stdout: Sink;
  readonly #stderr: Sink;
  readonly #noColor: boolean;

  constructor({ json, stdout, stderr, noColor }: OutputOptions) {
    this.json = json;
    this.#stdout = stdout;
    this.#stderr = stderr;
    this.#noColor = noColor;
  }

  /** A line of data. JSON leaves the controls from DEL on as they are; some terminals obey them. */
  line(text: string): void {
    const safe = text.replace(/[\u007f-\u009f]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`);
    this.#stdout.write(`${this.#stdout.isTTY ? safe : text}\n`);
  }

  /** The service's answer as JSON, for programs. */
  document(value: unknown): void {
    this.line(JSON.stringify(value, null, 2));
  }

  /** A line for people. */
  note(text: string): void {
    this.#stderr.write(`${text}\n`);
  }

  error(text: string): void {
    this.note(`${this.paint("red", "✗", this.#stderr)} ${text}`);
  }

  /** A warning: what was asked for is done. */
  warning(text: string): void {
    this.note(`${this.paint("yellow", "Warning:", this.#stderr)} ${text}`);
  }

  /** The service's list under `name` as a table, and a note if there are more pages. */
  list(answer: Rows, name: string, columns: Columns, now = Date.now()): void {
    if (this.json) {
      this.document(answer);
      return;
    }
    const rows = Array.isArray(answer[name]) ? (answer[name] as Rows[]) : [];
    if (rows.length > 0) {
      const titles = Object.keys(columns);
      const cells = rows.map((row) => Object.values(columns).map((path) => cellOf(valueAt(row, path), path, now)));
      const { isTTY, columns: width } = this.#stdout;
      const table = [titles, ...cells];
      // A program that reads the table gets all of it.
      const [head = "", ...lines] = aligned(isTTY && width ? fitted(table, width) : table);
      this.line(this.paint("bold", head));
      for (const line of lines) this.line(line);
    }
    this.#tellMore(answer, name, rows.length);
  }

  /** How to continue a list that has a cursor. @param option the option that takes the cursor, such as `--before` */
  tellCursor(answer: Rows, option: string): void {
    const { hasMore, cursor } = (answer.pagination ?? {}) as { hasMore?: boolean; cursor?: string | null };
    if (hasMore && cursor && !this.json) this.note(`For more, add ${option} ${printable(cursor)}`);
  }

  /** One record, with a line for each field. */
  record(answer: Rows, record: unknown, now = Date.now()): void {
    if (this.json) {
      this.document(answer);
      return;
    }
    const fields = flattened(record, "");
    const width = Math.max(0, ...fields.map(([name]) => name.length));
    for (const [name, value] of fields) {
      const isTime = typeof value === "string" && TIME_FIELD.test(name) && !Number.isNaN(Date.parse(value));
      const cell = isTime ? `${printable(value)} (${relativeTime(value, now)})` : cellOf(value, "", now);
      this.line(`${this.paint("dim", name.padEnd(width))}  ${cell}`);
    }
  }

  /** Colors a text, if the stream is a terminal and NO_COLOR is not set. */
  paint(color: Color, text: string, stream: Sink = this.#stdout): string {
    // Not styleText's own check, because FORCE_COLOR would color a pipe.
    return stream.isTTY && !this.#noColor ? styleText(color, text, { validateStream: false }) : text;
  }

  #tellMore(answer: Rows, name: string, shown: number): void {
    const { page, totalPages, total, hasMore } = (answer.pagination ?? {}) as Record<string, number | boolean>;
    if (shown === 0) this.note(`No ${name}${Number(total) > 0 ? ` on this page, ${total} in total` : ""}.`);
    // Commands whose list has no total say how to continue.
    else if (page === undefined && total !== undefined && hasMore) this.note(`${shown} of ${total} shown.`);
    else if (Number(totalPages) > 1) this.note(`Page ${page} of ${totalPages}, ${total} in total.`);
  }
}

/** The value at a dotted path; of a list, that of each entry. */
export function valueAt(row: unknown, path: string): unknown {
  let value = row;
  for (const name of path.split(".")) {
    value = Array.isArray(value) ? value.map((one) => valueAt(one, name)) : (value as Rows | null | undefined)?.[name];
  }
  return value;
}

/** A value as text. The end of its path says whether it is a time or a rate limit. */
function cellOf(value: unknown, path: string, now: number): string {
  if (value === null || value === undefined || value === "") return EMPTY;
  if (Array.isArray(value)) return value.length === 0 ? EMPTY : value.map((one) => cellOf(one, path, now)).join(", ");
  if (path.endsWith("rateLimit")) {
    const { limit, windowSeconds } = value as { limit: number; windowSeconds: number };
    return `${limit}/${windowSeconds}s`;
  }
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return printable(TIME_FIELD.test(path) ? relativeTime(text, now) : text);
}

/** The fields of a record. A nested field has a dotted name. */
function flattened(value: unknown, name: string): [string, unknown][] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [[name, value]];
  return Object.entries(value).flatMap(([key, inner]) => {
    // The keys of metadata are foreign text too.
    const field = printable(key);
    return flattened(inner, name ? `${name}.${field}` : field);
  });
}
