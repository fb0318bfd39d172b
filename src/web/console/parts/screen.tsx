import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { pageTitle } from "../unread.ts";
import { Empty } from "./states.tsx";
import { Toasts } from "./toast.tsx";

interface ScreenProps {
  title: string;
  /** What the screen is for, in a sentence. */
  intro?: ComponentChildren;
  actions?: ComponentChildren;
  /** The address of the list that the screen belongs to. */
  back?: { href: string; label: string };
  children: ComponentChildren;
}

/** A screen with its title. The document's title follows it. */
export function Screen({ title, intro, actions, back, children }: ScreenProps) {
  useEffect(() => void (pageTitle.value = title), [title]);
  return (
    <div class="screen">
      <header class="screen-header">
        <div>
          {back && (
            <a class="note" href={back.href}>
              {back.label}
            </a>
          )}
          <h1>
            <bdi>{title}</bdi>
          </h1>
          {intro && <p class="narrow quiet">{intro}</p>}
        </div>
        {actions && <div class="line">{actions}</div>}
      </header>
      <Toasts />
      {children}
    </div>
  );
}

/** In place of a screen for people with a permission, says which one is lacking. */
export function NotPermitted({ permission, title }: { permission: string; title: string }) {
  return (
    <Screen title={title}>
      <Missing permission={permission} title="You don’t have access to this" />
    </Screen>
  );
}

/** Says that a permission is lacking, and who can give it. */
export function Missing({ permission, title }: { permission: string; title: string }) {
  return (
    <Empty icon="key" title={title}>
      You need the permission <code>{permission}</code>. The operator or a colleague can give it to you.
    </Empty>
  );
}
