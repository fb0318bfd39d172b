import { Button } from "./button.tsx";

interface ChipsProps {
  choices: readonly { label: string; choose: () => void }[];
}

/** Buttons that fill a field with what is often wanted. */
export function Chips({ choices }: ChipsProps) {
  return (
    <div class="line">
      {choices.map(({ label, choose }) => (
        <Button key={label} onClick={choose}>
          {label}
        </Button>
      ))}
    </div>
  );
}
