import { Select } from "./controls.tsx";

/** By seconds. */
const OVERLAPS = {
  0: "At once: the secret leaked",
  3600: "In an hour",
  86400: "In a day",
  604800: "In a week",
};

/** Asks when an old secret ends. Its value in seconds is named `overlap`. @param user what has the secret */
export function OverlapField({ user }: { user: string }) {
  return (
    <Select
      label="The old secret ends"
      hint={`Until then both work, so that ${user} can switch without a gap.`}
      name="overlap"
      options={OVERLAPS}
      first="86400"
    />
  );
}
