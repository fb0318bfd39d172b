import { CHECK, Drawing, FAILURE, FILE } from "../../shared/drawing.tsx";

/** SVG paths. Icons are hidden from screen readers, because each has a text beside it. */
const PATHS = {
  send: "M4 12 20 4l-5 16-3.5-6.5L4 12Zm7.5 1.5L20 4",
  close: "M6 6l12 12M18 6 6 18",
  sending: "M12 7v5l3 2M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18Z",
  sent: CHECK,
  delivered: "M2 13l4.5 4.5L16 7M11.5 16.5l1 1L22 7",
  read: "M2 13l4.5 4.5L16 7M11.5 16.5l1 1L22 7",
  notSent: FAILURE,
  file: FILE,
  down: "M12 5v14m-6-6 6 6 6-6",
  again: "M4 12a8 8 0 1 0 2.5-5.8M4 4v4.5h4.5",
} as const;

export function Icon({ name }: { name: keyof typeof PATHS }) {
  return <Drawing path={PATHS[name]} name={name} />;
}
