import type { ComponentChildren } from "preact";

/** A link to another site, which learns nothing of this page. */
export function Outward({ href, children }: { href: string; children: ComponentChildren }) {
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
}
