import type { JSX } from "preact";
import { Select } from "./field.tsx";

const DAY_SECONDS = 86_400;

const OVERLAPS = [
  { seconds: 0, label: "At once: the secret leaked" },
  { seconds: 3_600, label: "In an hour" },
  { seconds: DAY_SECONDS, label: "In a day" },
  { seconds: 7 * DAY_SECONDS, label: "In a week" },
];

/** Asks when an old secret ends. Its value in seconds is named `overlap`. @param user what has the secret */
export function OverlapField({ user }: { user: string }): JSX.Element {
  return (
    <Select
      label="The old secret ends"
      hint={`Until then both work, so that ${user} can switch without a gap.`}
      name="overlap"
    >
      {OVERLAPS.map(({ seconds, label }) => (
        <option key={seconds} value={seconds} selected={seconds === DAY_SECONDS}>
          {label}
        </option>
      ))}
    </Select>
  );
}
