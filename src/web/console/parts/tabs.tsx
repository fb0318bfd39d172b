import type { JSX } from "preact";

interface TabsProps<T> {
  /** What is chosen, for screen readers. */
  label: string;
  choices: readonly { value: T; label: JSX.Element | string }[];
  chosen: T | undefined;
  onChoose: (value: T) => void;
}

/** Buttons of which one is pressed. */
export function Tabs<T>({ label, choices, chosen, onChoose }: TabsProps<T>): JSX.Element {
  return (
    <fieldset class="tabs" aria-label={label}>
      {choices.map((choice) => (
        <button
          key={choice.value}
          type="button"
          class="tab"
          aria-pressed={choice.value === chosen}
          onClick={() => onChoose(choice.value)}
        >
          {choice.label}
        </button>
      ))}
    </fieldset>
  );
}
