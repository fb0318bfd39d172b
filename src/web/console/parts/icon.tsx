import type { JSX } from "preact";

/** SVG paths on a square of 24. Icons are hidden from screen readers, because each has a text beside it. */
const PATHS = {
  inbox: "M4 13h4l1.5 3h5L16 13h4M6.5 5h11L20 13v6H4v-6L6.5 5Z",
  clock: "M12 7v5l3 2M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18Z",
  channel: "M4 5h16v11H9l-5 4V5Z",
  phone: "M7 3h10v18H7V3Zm4 15h2",
  key: "M14.5 9.5a4.5 4.5 0 1 0-4 4.5L12 12.5h2.5V15H17v2.5h3V14l-5.5-4.5ZM9 9h.01",
  webhook: "M9 8.5a3.5 3.5 0 1 1 5 3.2l2 4.3M8.5 11 6 15.5M6.5 19a3 3 0 1 1 2.5-4.7M18 13.5A3 3 0 1 1 15.4 18H9",
  template: "M6 3h12v18H6V3Zm3 5h6M9 12h6M9 16h3",
  members:
    "M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7Zm-6 9c0-3.3 2.7-5.5 6-5.5s6 2.2 6 5.5M16 11a3 3 0 1 0-1-5.8M18 14.8c1.8.8 3 2.5 3 5.2",
  audit: "M5 4h14v16H5V4Zm4 5h6M9 13h6M9 17h3",
  chart: "M4 20h16M7 16v-5M12 16V5M17 16v-8",
  settings: "M4 7h9m4 0h3M4 17h3m4 0h9M15 5v4M9 15v4",
  search: "M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13ZM15.5 15.5 20 20",
  close: "M6 6l12 12M18 6 6 18",
  back: "M19 12H5m6-6-6 6 6 6",
  send: "M4 12 20 4l-5 16-3.5-6.5L4 12Zm7.5 1.5L20 4",
  check: "M5 13l4.5 4.5L19 7",
  double: "M2 13l4.5 4.5L16 7M11.5 16.5l1 1L22 7",
  warning: "M12 9v4m0 3.5v.01M12 4 2.5 20h19L12 4Z",
  copy: "M9 9h11v11H9V9Zm-3 6H4V4h11v2",
  more: "M5 11.5a.5.5 0 1 0 0 1 .5.5 0 0 0 0-1Zm7 0a.5.5 0 1 0 0 1 .5.5 0 0 0 0-1Zm7 0a.5.5 0 1 0 0 1 .5.5 0 0 0 0-1Z",
  down: "m6 9 6 6 6-6",
  again: "M4 12a8 8 0 1 0 2.5-5.8M4 4v4.5h4.5",
  plus: "M12 5v14M5 12h14",
  file: "M6 3h8l4 4v14H6V3Zm8 0v4h4",
  person: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8Zm-7.5 8c0-3.6 3.3-6 7.5-6s7.5 2.4 7.5 6",
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
