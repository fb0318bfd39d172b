interface LinkProps {
  href: string;
  children: string;
  class?: string;
}

/** A link to another site, which learns nothing of this page. */
export function TextLink({ href, children, class: style }: LinkProps) {
  return (
    <a class={style} href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
}
