import type { JSX } from "preact";
import { Button } from "./button.tsx";

interface TabsProps<T> {
  /** What is chosen, for screen readers. */
  label: string;
  choices: readonly { value: T; label: JSX.Element | string }[];
  chosen: T | undefined;
  onChoose: (value: T) => void;
}

/** Buttons of which one is pressed. */
export function Tabs<T>({ label, choices, chosen, onChoose }: TabsProps<T>) {
  return (
    <fieldset class="tabs" aria-label={label}>
      {choices.map((choice) => (
        <Button
          key={choice.value}
          class="tab"
          aria-pressed={choice.value === chosen}
          onClick={() => onChoose(choice.value)}
        >
          {choice.label}
        </Button>
      ))}
    </fieldset>
  );
}
