import type { JSX } from "preact";
import { openDialog } from "./opened-dialog.tsx";

interface ButtonProps extends Omit<JSX.IntrinsicElements["button"], "type"> {
  /** The dialog that it opens. */
  opens?: JSX.Element;
}

/** A button that sends no form. Its class is `button`, unless it has another one. */
export function Button({ opens, ...button }: ButtonProps) {
  return <button type="button" class="button" onClick={opens && (() => openDialog(opens))} {...button} />;
}

/** Buttons that fill a field with what is often wanted. */
export function Chips({ choices }: { choices: readonly { label: string; choose: () => void }[] }) {
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
