const UNITS = ["byte", "kilobyte", "megabyte"] as const;

/** A number of bytes in words, such as 1.2 MB. */
export function sizeIn(locale: string | undefined, bytes: number): string {
  const step = bytes < 1_000 ? 0 : bytes < 999_500 ? 1 : 2;
  const options = {
    style: "unit",
    unit: UNITS[step],
    // Short, English says "2 byte".
    unitDisplay: step ? "short" : "long",
    maximumFractionDigits: step === 2 ? 1 : 0,
  } as const;
  return new Intl.NumberFormat(locale, options).format(bytes / 1_000 ** step);
}
