import type { JSX } from "preact";
import { Icon, type IconName } from "./icon.tsx";
import { openDialog } from "./opened-dialog.tsx";

interface ButtonProps extends Omit<JSX.IntrinsicElements["button"], "type"> {
  opens?: JSX.Element;
  /** The address that it leads to. Then it is a link. */
  href?: string | undefined;
  /** What it shows in place of words, which are in its `aria-label`. */
  icon?: IconName;
}

/** A button that sends no form. Its class is `button`, or `plain` for an icon, unless it has another one. */
export function Button({ opens, href, icon, children = icon && <Icon name={icon} />, ...button }: ButtonProps) {
  const { class: look = icon ? "plain" : "button", ...rest } = button;
  const open = opens && (() => openDialog(opens));
  if (href) {
    return (
      <a class={look} href={href}>
        {children}
      </a>
    );
  }
  return (
    <button type="button" class={look} onClick={open} {...rest}>
      {children}
    </button>
  );
}

/** What a screen or a dialog is for. */
export function MainButton(button: ButtonProps) {
  return <Button class="button button-main" {...button} />;
}

/** For what can't be undone. */
export function WarnButton(button: ButtonProps) {
  return <Button class="button button-warns" {...button} />;
}

/** A button that looks like a link. */
export function TextButton(button: ButtonProps) {
  return <Button class="link" {...button} />;
}

/** For what can't be undone. It looks like a link. */
export function DangerLink(button: ButtonProps) {
  return <Button class="link link-danger" {...button} />;
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
