import type { Fault } from "../model/error.ts";
import type { Path } from "./body-reader.ts";

/** Longer numbers are refused without a look. None that a program writes for itself is as long. */
const MAX_WRITTEN = 64;

/**
 * What is wrong with numbers of a body that become text: JSON's are rounded to 64 bits, and the smallest and largest get
 * an exponent, so a contact would read another number than the client wrote. `2.0` and `2` are one number.
 * @param text the body
 * @param paths where it has numbers that become text
 */
export function numberFaults(text: string, paths: readonly Path[]): Fault[] {
  if (paths.length === 0) return [];
  const body = asWritten(text);
  return paths.flatMap((path) => {
    const fault = (message: string) => [{ path: path.join("."), message }];
    if (body === TOO_DEEP) return fault("can't be read exactly in a body that is nested this deeply");
    const number = path.reduce((value, name) => (value as Record<string, unknown>)[name], body) as string;
    return staysTheSame(number) ? [] : fault(`would be sent as ${Number(number)}. Send it as text, in quotes`);
  });
}

const TOO_DEEP = Symbol("too deep");

/** The value of JSON, with each number as the text that stands for it. */
function asWritten(text: string): unknown {
  try {
    return JSON.parse(text, (_name, value: unknown, context?: { source: string }) =>
      typeof value === "number" ? context?.source : value,
    );
  } catch (error) {
    // Unlike a plain JSON.parse, this one needs a place on the stack for each level.
    if (error instanceof RangeError) return TOO_DEEP;
    throw error;
  }
}

/** Whether the text of a number is the number that was written. */
function staysTheSame(written: string): boolean {
  const text = String(Number(written));
  return written.length <= MAX_WRITTEN && !text.includes("e") && decimalOf(written) === decimalOf(text);
}

/** A number in one form: `1.50`, `15e-1` and `0.0015E3` are `15e-1`. */
function decimalOf(number: string): string {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(number) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, "");
  const significant = digits.replace(/0+$/, "");
  if (significant === "") return "0";
  return `${sign}${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}
