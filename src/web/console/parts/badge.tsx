import { initialsOf } from "../names.ts";
import { Icon } from "./icon.tsx";

export type Tone = "good" | "bad" | "warn" | "quiet";

/** A state in a word, with a dot. The word says it without the color. */
export function Badge({ tone, label }: { tone: Tone; label: string }) {
  return <span class={`badge tone-${tone}`}>{label}</span>;
}

/** The first letters of a name, in a circle. Without a name, a person in the color of `address`. */
export function Avatar({ name, address = "" }: { name: string | null; address?: string }) {
  const initials = initialsOf(name ?? "");
  return (
    <span class="avatar" style={{ background: colorOf(name ?? address) }} aria-hidden="true">
      {initials === "" ? <Icon name="person" /> : <bdi>{initials}</bdi>}
    </span>
  );
}

/** Each has enough contrast with white letters. */
const COLORS = ["#0d6b5e", "#3d5a9e", "#8a4b2a", "#74489a", "#9a3b5c", "#4d6b1f"];

function colorOf(name: string): string {
  let sum = 0;
  for (const letter of name) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 997;
  return COLORS[sum % COLORS.length] ?? "";
}
