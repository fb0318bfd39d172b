import { type Choice, type Choices, hasDetails } from "./content.ts";

/** Choices as text, for channels and forms that can't show all of them in another way. Nothing is ever left out. */

/** The text of a message with its header and its footer, and `lines` before the footer. */
export function framedText({ header, footer }: Choices, text: string, lines: string[] = []): string {
  const outline = lines.length > 0 ? lines.join("\n") : undefined;
  return [header, text, outline, footer].filter((each) => each !== undefined).join("\n\n");
}

/** The choices as lines: replies in their sections, links with their addresses. */
export function choiceLines({ choices }: Choices): string[] {
  return bySection(choices).flatMap(({ section, entries }) => [
    ...(section === undefined ? [] : [section]),
    ...entries.map(({ choice }) => choiceLine(choice)),
  ]);
}

/** The lines that buttons with the titles can't replace; none if the choices have only titles. */
export function detailLines(choices: Choices): string[] {
  return choices.choices.some(hasDetails) ? choiceLines(choices) : [];
}

/** The choices with their indexes, in their sections. A section is where its first choice is. */
export function bySection(
  choices: readonly Choice[],
): { section: string | undefined; entries: { choice: Choice; index: number }[] }[] {
  const entries = choices.map((choice, index) => ({ choice, index }));
  const groups = Map.groupBy(entries, ({ choice }) => (choice.type === "reply" ? choice.section : undefined));
  return [...groups].map(([section, entries]) => ({ section, entries }));
}

/** Splits a text between lines into texts of at most `max` characters. A single line must fit. */
export function splitText(text: string, max: number): string[] {
  if (text.length <= max) return [text];
  const parts: string[] = [];
  let part = "";
  for (const line of text.split("\n")) {
    if (part !== "" && part.length + 1 + line.length > max) {
      parts.push(part.trimEnd());
      part = "";
    }
    part = part === "" ? line : `${part}\n${line}`;
  }
  return [...parts, part];
}

/** A choice as a line of text. */
export function choiceLine(choice: Choice): string {
  if (choice.type === "link") return `${choice.title}: ${choice.url}`;
  const description = choice.type === "reply" ? choice.description : undefined;
  return description === undefined ? choice.title : `${choice.title}: ${description}`;
}
