import type { JSX } from "preact";
import { Icon, type IconName } from "./icon.tsx";
import { openDialog } from "./opened-dialog.tsx";

interface ButtonProps extends Omit<JSX.IntrinsicElements["button"], "type"> {
  opens?: JSX.Element;
  /** What it shows in place of words, which are in its `aria-label`. */
  icon?: IconName;
}

/** A button that sends no form. Its class is `button`, or `plain` for an icon, unless it has another one. */
export function Button({ opens, icon, children = icon && <Icon name={icon} />, ...button }: ButtonProps) {
  const open = opens && (() => openDialog(opens));
  return (
    <button type="button" class={icon ? "plain" : "button"} onClick={open} {...button}>
      {children}
    </button>
  );
}

interface MainButtonProps extends ButtonProps {
  href?: string | undefined;
}

/** What a screen or a dialog is for. It is a link if it leads to an address. */
export function MainButton({ href, ...button }: MainButtonProps) {
  const look = "button button-main";
  if (!href) return <Button class={look} {...button} />;
  return (
    <a class={look} href={href}>
      {button.children}
    </a>
  );
}

/** Buttons that fill a field with what is often wanted. `isChosen` marks the one that the field has now. */
export function Chips({ choices }: { choices: readonly { label: string; choose: () => void; isChosen?: boolean }[] }) {
  return (
    <div class="line">
      {choices.map(({ label, choose, isChosen }) => (
        <Button key={label} aria-pressed={isChosen} onClick={choose}>
          {label}
        </Button>
      ))}
    </div>
  );
}
