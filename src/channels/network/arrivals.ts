/** What becomes of fields that a network sends. `how` says where they are, or why they are left out. */
export interface Arrival {
  becomes: "kept" | "described" | "changes" | "left out";
  /** Markdown. */
  how: string;
}

/** A part of the guide: the fields of one thing that a network sends, by what becomes of them. */
export interface ArrivalTable {
  title: string;
  rows: { leaves: readonly string[]; arrival: Arrival }[];
}

/** The rows of fields in groups, each with its words. */
export function arrivalTable<Group extends string>(
  title: string,
  leaves: Record<Group, readonly string[]>,
  arrivals: Record<Group, Arrival>,
): ArrivalTable {
  const groups = Object.keys(arrivals) as Group[];
  return { title, rows: groups.map((group) => ({ leaves: leaves[group], arrival: arrivals[group] })) };
}

export const kept = (how: string): Arrival => ({ becomes: "kept", how });
export const described = (how = "In `content`"): Arrival => ({ becomes: "described", how });
export const changes = (how: string): Arrival => ({ becomes: "changes", how });
export const leftOut = (how: string): Arrival => ({ becomes: "left out", how });

/** The names in a text, each between white space. */
export type Names<Text extends string> = Text extends `${infer One}${" " | "\n"}${infer Rest}`
  ? One | Names<Rest>
  : Text;

export function namesIn<const Text extends string>(text: Text): readonly Names<Text>[] {
  return text.split(/\s/) as Names<Text>[];
}
