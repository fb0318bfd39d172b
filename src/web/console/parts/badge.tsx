import type { ComponentChildren, JSX } from "preact";

type Tone = "good" | "bad" | "warn" | "quiet";

/** A state in a word, with a dot. The word says it without the color. */
export function Badge({ tone, children }: { tone: Tone; children: ComponentChildren }): JSX.Element {
  return <span class={`badge tone-${tone}`}>{children}</span>;
}

/** The first letters of a name, in a circle. */
export function Avatar({ name }: { name: string }): JSX.Element {
  const [first = "", second = ""] = name.trim().split(/\s+/u);
  const letters = `${[...first][0] ?? ""}${[...second][0] ?? ""}`.toLocaleUpperCase();
  return (
    <span class={`avatar avatar-${hueOf(name)}`} aria-hidden="true">
      <bdi>{/^[+\d]/.test(first) ? "#" : letters}</bdi>
    </span>
  );
}

const HUES = 6;

function hueOf(name: string): number {
  let sum = 0;
  for (const letter of name) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 997;
  return sum % HUES;
}
