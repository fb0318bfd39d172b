import type { Chat } from "../api.ts";
import type { Label } from "./use-labels.ts";

interface LabelMarksProps {
  labels: Chat["labels"];
  /** All labels of the organization: they have the colors. */
  all: readonly Label[];
}

/** The labels of a chat. */
export function LabelMarks({ labels, all }: LabelMarksProps) {
  return (
    <>
      {labels.map(({ id, name }) => (
        <span key={id} class="label">
          <LabelDot color={all.find((one) => one.id === id)?.color ?? null} />
          <bdi>{name}</bdi>
        </span>
      ))}
    </>
  );
}

/** A label's color; a ring for none. */
export function LabelDot({ color }: Pick<Label, "color">) {
  return <span class="label-dot" style={color ? { background: color } : {}} aria-hidden="true" />;
}
