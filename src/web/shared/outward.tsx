import type { ComponentChildren } from "preact";

interface OutwardProps {
  href: string;
  children: ComponentChildren;
  class?: string;
}

/** A link to another site, which learns nothing of this page. */
export function Outward({ href, children, class: style }: OutwardProps) {
  return (
    <a class={style} href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
}
