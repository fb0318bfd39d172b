import type { ComponentChildren } from "preact";

interface TableProps {
  /** For screen readers. */
  caption: string;
  /** Their names. A column of numbers has its name above their last digits. */
  columns: (string | { number: string })[];
  children: ComponentChildren;
}

/** A table that scrolls in its own box on a narrow page. */
export function Table({ caption, columns, children }: TableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by the keyboard
    <section class="table-box" aria-label={caption} tabIndex={0}>
      <table class="table">
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) =>
              typeof column === "string" ? (
                <th key={column} scope="col">
                  {column}
                </th>
              ) : (
                <th key={column.number} scope="col" class="number">
                  {column.number}
                </th>
              ),
            )}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  );
}
