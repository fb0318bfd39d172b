import { CHECK, Drawing, FILE } from "../../shared/drawing.tsx";

/** SVG paths on a square of 24. Icons are hidden from screen readers, because each has a text beside it. */
const PATHS = {
  inbox: "M4 5h16v14H4V5Zm0 8h5l1 2h4l1-2h5",
  clock: "M12 3a9 9 0 1 0 0 18 9 9 0 1 0 0-18Zm0 4v5h4",
  channel: "M4 5h16v12H9l-5 4V5Z",
  site: "M12 3a9 9 0 1 0 0 18 9 9 0 1 0 0-18ZM3 12h18M12 3c-5 5-5 13 0 18m0-18c5 5 5 13 0 18",
  call: "m4 20 1-4a8 8 0 1 1 3 3l-4 1Zm5-12c0 4 3 7 7 7v-2l-2-1-1 1-2-2 1-1-1-2H9Z",
  key: "M9 8a4 4 0 1 0 0 8 4 4 0 1 0 0-8Zm4 4h7v4",
  webhook: "M4 12h6m0-6v12h4a6 6 0 1 0 0-12h-4Zm10 6h.01",
  reply: "M13 3 5 14h6l-1 7 9-11h-7l1-7Z",
  template: "M6 3h12v18H6V3Zm3 5h6m-6 4h6m-6 4h3",
  members: "M9 4a4 4 0 1 0 0 8 4 4 0 1 0 0-8ZM2 20c0-8 14-8 14 0M16 4a4 4 0 1 1 0 8m3 3c3 1 3 3 3 5",
  audit: "M6 3h12v18H6V3Zm3 9 2 2 4-5",
  chart: "M4 20h16M7 16v-5m5 5V5m5 11V8",
  settings: "M4 7h16M4 17h16M15 4v6m-6 4v6",
  search: "M10 3a7 7 0 1 0 0 14 7 7 0 1 0 0-14Zm5 12 6 6",
  close: "M6 6l12 12M18 6 6 18",
  back: "M19 12H5m6-6-6 6 6 6",
  send: "M4 12 20 4l-5 16-4-7-7-1Zm7 1 9-9",
  check: CHECK,
  done: "M12 3a9 9 0 1 0 0 18 9 9 0 1 0 0-18Zm-4 9 3 3 5-6",
  double: "M1 12l5 5L16 7m-5 9 1 1L22 7",
  warning: "M12 4 2 20h20L12 4Zm0 6v4m0 3h.01",
  copy: "M9 9h11v11H9V9Zm-3 6H4V4h11v2",
  more: "M4 12h1m7 0h1m7 0h1",
  down: "m6 9 6 6 6-6",
  again: "M4 12a8 8 0 1 0 3-6M4 4v4h4",
  plus: "M12 5v14m-7-7h14",
  file: FILE,
  label: "M4 4h8l8 8-8 8-8-8V4Zm4 4h.01",
  person: "M12 4a4 4 0 1 0 0 8 4 4 0 1 0 0-8ZM4 20c0-8 16-8 16 0",
  panel: "M4 5h16v14H4V5Zm10 0v14",
  note: "M5 4h14v10l-5 6H5V4Zm14 10h-5v6",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return <Drawing path={PATHS[name]} />;
}
