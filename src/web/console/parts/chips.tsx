import type { JSX } from "preact";

interface ChipsProps {
  choices: readonly { label: string; choose: () => void }[];
}

/** Buttons that fill a field with what is often wanted. */
export function Chips({ choices }: ChipsProps): JSX.Element {
  return (
    <div class="line">
      {choices.map(({ label, choose }) => (
        <button key={label} type="button" class="button" onClick={choose}>
          {label}
        </button>
      ))}
    </div>
  );
}
