import { convertIPv4ToBinary, convertIPv6ToBinary } from "hono/utils/ipaddr";

/** The IPv4-mapped range (RFC 4291, 2.5.5.2): `::ffff:192.0.2.1` and `192.0.2.1` are the same address. */
const IPV4_IN_IPV6 = 0xffffn << 32n;
const IPV4_END = IPV4_IN_IPV6 | 0xffff_ffffn;

/** The addresses from `first` to `last`, as 128-bit numbers. */
interface Interval {
  first: bigint;
  last: bigint;
}

/** Whether `rule` is an IPv4 or IPv6 address, or a range of them in CIDR notation. */
export function isAddressRule(rule: string): boolean {
  return intervalsOf(rule).length > 0;
}

/**
 * Returns a function that tests an address against rules that `isAddressRule` accepted. All notations of an address are
 * equal. Null and text that is not an address match no rule.
 */
export function addressMatcher(rules: readonly string[]): (address: string | null) => boolean {
  const merged = mergedIntervals(rules);
  return function matches(address) {
    const value = address === null ? null : numberOf(address);
    return value !== null && (lastBefore(merged, value)?.last ?? -1n) >= value;
  };
}

/** Whether `rules` match every address that `inner` matches. Each rule is read once: a list has up to 1,000. */
export function isWithinRules(inner: readonly string[], rules: readonly string[]): boolean {
  const outer = mergedIntervals(rules);
  return mergedIntervals(inner).every(({ first, last }) => (lastBefore(outer, first)?.last ?? -1n) >= last);
}

/** The addresses of all rules, in order: intervals that touch are one. */
function mergedIntervals(rules: readonly string[]): Interval[] {
  const sorted = rules.flatMap(intervalsOf).sort((one, other) => (one.first < other.first ? -1 : 1));
  const merged: Interval[] = [];
  for (const { first, last } of sorted) {
    const before = merged.at(-1);
    if (!before || first > before.last + 1n) merged.push({ first, last });
    else if (last > before.last) before.last = last;
  }
  return merged;
}

/** The last of the sorted intervals that does not begin after `value`. */
function lastBefore(intervals: readonly Interval[], value: bigint): Interval | undefined {
  let [low, high] = [0, intervals.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((intervals[middle] as Interval).first <= value) low = middle + 1;
    else high = middle;
  }
  return intervals[low - 1];
}

/**
 * The addresses of a rule; empty if it is not valid. A range that is wider than all of IPv4, such as `::/0`, contains
 * only IPv6 addresses.
 */
function intervalsOf(rule: string): Interval[] {
  const [address, bits, ...rest] = rule.split("/") as [string, ...string[]];
  const value = numberOf(address);
  const width = address.includes(":") ? 128 : 32;
  if (value === null || rest.length > 0) return [];
  if (bits !== undefined && (!/^(0|[1-9]\d{0,2})$/.test(bits) || Number(bits) > width)) return [];
  const free = BigInt(width - Number(bits ?? width));
  const first = (value >> free) << free;
  const last = first | ((1n << free) - 1n);
  if (free <= 32n || value >> free !== IPV4_IN_IPV6 >> free) return [{ first, last }];
  const parts = [
    { first, last: IPV4_IN_IPV6 - 1n },
    { first: IPV4_END + 1n, last },
  ];
  return parts.filter((part) => part.first <= part.last);
}

/** An address as a 128-bit number, or null. An address with a zone (`%eth0`) is only valid on one machine. */
function numberOf(address: string): bigint | null {
  if (address.includes("%")) return null;
  try {
    return address.includes(":") ? convertIPv6ToBinary(address) : IPV4_IN_IPV6 | convertIPv4ToBinary(address);
  } catch {
    return null;
  }
}
