import { convertIPv4ToBinary, convertIPv6ToBinary } from "hono/utils/ipaddr";

/** The addresses from `first` to `last`, as 128-bit numbers. */
interface Interval {
  first: bigint;
  last: bigint;
}

/** The IPv4-mapped range (RFC 4291, 2.5.5.2): `::ffff:192.0.2.1` and `192.0.2.1` are the same address. */
const IPV4 = { first: 0xffffn << 32n, last: (0x1_0000n << 32n) - 1n };

/**
 * 2a06:98c0:3600::/48. A Worker of anybody has an address in it when it calls another zone, so an address in it says
 * nothing about the caller.
 * @see https://developers.cloudflare.com/fundamentals/reference/http-headers/
 */
const WORKERS = { first: 0x2a06_98c0_3600n << 80n, last: (0x2a06_98c0_3601n << 80n) - 1n };

/** Whether `rule` is an IPv4 or IPv6 address, or a range of them in CIDR notation. */
export function isAddressRule(rule: string): boolean {
  return rangeOf(rule) !== null;
}

/** Whether every address of a rule, or an address, is one that all Cloudflare Workers share. No rule matches those. */
export function isSharedByWorkers(rule: string): boolean {
  const range = rangeOf(rule);
  return range !== null && range.first >= WORKERS.first && range.last <= WORKERS.last;
}

/**
 * Returns a function that tests an address against rules that `isAddressRule` accepted. All notations of an address are
 * equal. Null, text that is not an address, and the addresses that all Workers share match no rule.
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
 * The addresses of a rule that it matches; empty if it is not valid. A range that is wider than all of IPv4, such as
 * `::/0`, matches only IPv6 addresses.
 */
function intervalsOf(rule: string): Interval[] {
  const range = rangeOf(rule);
  if (!range) return [];
  const isWide = range.last - range.first > IPV4.last - IPV4.first;
  return without(isWide ? without([range], IPV4) : [range], WORKERS);
}

/** What is left of intervals outside another. */
function without(intervals: Interval[], { first: from, last: to }: Interval): Interval[] {
  return intervals.flatMap(({ first, last }) =>
    last < from || first > to
      ? [{ first, last }]
      : [
          { first, last: from - 1n },
          { first: to + 1n, last },
        ].filter((part) => part.first <= part.last),
  );
}

/** All addresses of a rule, or null if it is not valid. */
function rangeOf(rule: string): Interval | null {
  const [address, bits, ...rest] = rule.split("/") as [string, ...string[]];
  const value = numberOf(address);
  const width = address.includes(":") ? 128 : 32;
  if (value === null || rest.length > 0) return null;
  if (bits !== undefined && (!/^(0|[1-9]\d{0,2})$/.test(bits) || Number(bits) > width)) return null;
  const free = BigInt(width - Number(bits ?? width));
  const first = (value >> free) << free;
  return { first, last: first | ((1n << free) - 1n) };
}

/** An address as a 128-bit number, or null. An address with a zone (`%eth0`) is only valid on one machine. */
function numberOf(address: string): bigint | null {
  if (address.includes("%")) return null;
  try {
    return address.includes(":") ? convertIPv6ToBinary(address) : IPV4.first | convertIPv4ToBinary(address);
  } catch {
    return null;
  }
}
