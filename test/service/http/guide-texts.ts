/** The Markdown of each guide, by its path. */
export const guides = import.meta.glob<string>("../../../src/docs/*.md", {
  query: "?raw",
  import: "default",
  eager: true,
});

/** The Markdown of a guide: `sending`. */
export function guide(name: string): string {
  return guides[`../../../src/docs/${name}.md`] ?? "";
}

/** The part of a guide from a heading to the next one. */
export function section(name: string, heading: string): string {
  const [, after = ""] = guide(name).split(`\n${heading}\n`);
  return after.split(/\n#+ /)[0] ?? "";
}

/** The cells of the table rows that begin with a cell of the form `first`. */
export function rows(first: RegExp, text: string): string[][] {
  return text
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
    .filter(([cell = ""]) => first.test(cell));
}
