import type { JSX } from "preact";

/** SVG paths on a square of 24. Icons are hidden from screen readers, because each has a text beside it. */
const PATHS = {
  inbox: "M4 13h4l2 3h4l2-3h4M7 5h10l3 8v6H4v-6L7 5Z",
  clock: "M12 7v5l3 2M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18Z",
  channel: "M4 5h16v11H9l-5 4V5Z",
  phone: "M7 3h10v18H7V3Zm4 15h2",
  key: "M15 9a5 5 0 1 0-5 5l2-1h2v2h3v3h3v-4l-5-5ZM9 9h.01",
  webhook: "M9 9a3 3 0 1 1 5 2l2 5M9 11l-3 5M6 19a3 3 0 1 1 3-5M18 13a3 3 0 1 1-3 5H9",
  template: "M6 3h12v18H6V3Zm3 5h6M9 12h6M9 16h3",
  members: "M9 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8Zm-7 9c0-4 3-6 7-6s7 2 7 6M16 11a4 4 0 0 0 0-8M19 14c2 1 3 3 3 6",
  audit: "M5 4h14v16H5V4Zm4 5h6M9 13h6M9 17h3",
  chart: "M4 20h16M7 16v-5M12 16V5M17 16v-8",
  settings: "M4 7h9m4 0h3M4 17h3m4 0h9M15 5v4M9 15v4",
  search: "M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM15 15l6 6",
  close: "M6 6l12 12M18 6 6 18",
  back: "M19 12H5m6-6-6 6 6 6",
  send: "M4 12 20 4l-5 16-4-7-7-1Zm7 1 9-9",
  check: "M5 12l5 5L20 7",
  double: "M1 12l5 5L16 7M11 16l1 1L22 7",
  warning: "M12 10v4m0 3h.01M12 4 2 20h20L12 4Z",
  copy: "M9 9h11v11H9V9Zm-3 6H4V4h11v2",
  more: "M5 11.5a.5.5 0 1 0 0 1 .5.5 0 0 0 0-1Zm7 0a.5.5 0 1 0 0 1 .5.5 0 0 0 0-1Zm7 0a.5.5 0 1 0 0 1 .5.5 0 0 0 0-1Z",
  down: "m6 9 6 6 6-6",
  again: "M4 12a8 8 0 1 0 3-6M4 4v4h4",
  plus: "M12 5v14M5 12h14",
  file: "M6 3h8l4 4v14H6V3Zm8 0v4h4",
  person: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8Zm-8 8c0-4 4-6 8-6s8 2 8 6",
  out: "M10 4H5v16h5m5-4 4-4-4-4m4 4H9",
  panel: "M4 5h16v14H4V5Zm10 0v14",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }): JSX.Element {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
