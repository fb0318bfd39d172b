/** A line drawing on a square of 24. It is hidden from screen readers: each has a text beside it. */
export function Drawing({ path, name }: { path: string; name?: string }) {
  return (
    <svg class={name ? `icon icon-${name}` : "icon"} viewBox="0 0 24 24" aria-hidden="true">
      <path d={path} />
    </svg>
  );
}

/** The drawings of what a message shows. */
export const FILE = "M6 3h8l4 4v14H6V3Zm8 0v4h4";
export const CHECK = "M5 13l4.5 4.5L19 7";
export const FAILURE = "M12 7v6m0 3.5v.5M12 3a9 9 0 1 0 0 18 9 9 0 1 0 0-18Z";
