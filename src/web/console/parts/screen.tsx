import type { ComponentChildren, JSX } from "preact";
import { useEffect } from "preact/hooks";

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
export function Screen({ title, intro, actions, back, children }: ScreenProps): JSX.Element {
  useEffect(() => {
    document.title = `${title} · Parley`;
  }, [title]);
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
      {children}
    </div>
  );
}

/** Names and values, one under the other. */
export function Facts({ children }: { children: ComponentChildren }): JSX.Element {
  return <dl class="stack">{children}</dl>;
}

/** A name and its value. */
export function Fact({ name, children }: { name: string; children: ComponentChildren }): JSX.Element {
  return (
    <div class="fact">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
