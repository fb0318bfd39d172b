import type { ComponentChildren } from "preact";

/** Names and values, one under the other. A value that is null, undefined or false is left out. */
export function Facts({ of }: { of: Readonly<Record<string, ComponentChildren>> }) {
  const shown = Object.entries(of).filter(([, value]) => ![null, undefined, false].includes(value as null));
  return (
    <dl class="stack">
      {shown.map(([name, value]) => (
        <div key={name} class="fact">
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

interface BoxProps {
  title: string;
  /** Beside the title. */
  action?: ComponentChildren;
  children: ComponentChildren;
}

/** A part of a screen, in a frame. */
export function Box({ title, action, children }: BoxProps) {
  return (
    <section class="box">
      <header class="between">
        <h2>{title}</h2>
        {action}
      </header>
      {children}
    </section>
  );
}
