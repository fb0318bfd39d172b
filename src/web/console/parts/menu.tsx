import { type Signal, useSignal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { Button } from "./button.tsx";
import { openDialog } from "./opened-dialog.tsx";

interface MenuProps {
  /** What the menu is for. The accessible name of the button, unless the button has a text. */
  label: string;
  hasText?: boolean;
  button: ComponentChildren;
  buttonClass?: string;
  /** Opens upwards, for a button at the bottom of the page. */
  up?: boolean;
  /** Opens it from elsewhere. */
  isOpen?: Signal<boolean>;
  children: ComponentChildren;
}

/**
 * A button that opens a list of actions. Arrow keys move in it, and a letter moves to the next action that begins with
 * it; a choice, Escape and a click elsewhere close it.
 */
export function Menu({
  label,
  hasText = false,
  button,
  buttonClass = "plain",
  up = false,
  children,
  ...given
}: MenuProps) {
  const own = useSignal(false);
  const { isOpen = own } = given;
  const root = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const items = () =>
    [...(list.current?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])].filter((item) => item.offsetParent);
  const close = () => {
    isOpen.value = false;
    root.current?.querySelector("button")?.focus();
  };

  // Before the browser can take the next key. An open menu keeps the keys, also while its actions come and go.
  useLayoutEffect(() => {
    if (!isOpen.value || items().some((item) => item === document.activeElement)) return;
    (items()[0] ?? list.current)?.focus();
  });

  useEffect(() => {
    if (!isOpen.value) return;
    const closeElsewhere = (event: Event) => {
      if (event.target instanceof Node && !root.current?.contains(event.target)) isOpen.value = false;
    };
    addEventListener("pointerdown", closeElsewhere);
    return () => removeEventListener("pointerdown", closeElsewhere);
  }, [isOpen.value]);

  const move = (event: KeyboardEvent) => {
    const { key } = event;
    if (event.ctrlKey || event.metaKey) return;
    // The page's own keys do nothing while it is open.
    event.stopPropagation();
    const all = items();
    const at = all.indexOf(document.activeElement as HTMLElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[key];
    const next =
      to === undefined
        ? [...all.slice(at + 1), ...all].find(
            (item) => key.length === 1 && item.textContent?.toLowerCase().startsWith(key.toLowerCase()),
          )
        : all.at(to % all.length);
    if (key === "Escape") close();
    else if (key === "Tab") isOpen.value = false;
    next?.focus();
    if (next || key === "Escape") event.preventDefault();
  };

  return (
    <div class="menu" ref={root}>
      <Button
        class={buttonClass}
        aria-label={hasText ? undefined : label}
        title={label}
        aria-haspopup="menu"
        aria-expanded={isOpen.value}
        onClick={() => (isOpen.value = !isOpen.value)}
      >
        {button}
      </Button>
      {isOpen.value && (
        <div
          class={up ? "menu-list menu-up" : "menu-list"}
          role="menu"
          aria-label={label}
          tabIndex={-1}
          ref={list}
          onKeyDown={move}
          onClick={close}
        >
          {children}
        </div>
      )}
    </div>
  );
}

interface ItemProps {
  onChoose?: () => void;
  opens?: JSX.Element;
  danger?: boolean;
  children: ComponentChildren;
}

export function MenuItem({ onChoose, opens, danger = false, children }: ItemProps) {
  const choose = opens ? () => openDialog(opens) : onChoose;
  return (
    <button type="button" role="menuitem" class={danger ? "item failed" : "item"} onClick={choose}>
      {children}
    </button>
  );
}
