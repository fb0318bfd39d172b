import { convertIPv4ToBinary, convertIPv6ToBinary } from "hono/utils/ipaddr";

/** The IPv4-mapped range (RFC 4291, 2.5.5.2): `::ffff:192.0.2.1` and `192.0.2.1` are the same address. */
const IPV4_IN_IPV6 = 0xffffn << 32n;

/** The addresses that begin with `prefix`; their last `free` bits can have any value. */
interface Range {
  prefix: bigint;
  free: bigint;
}

/** Whether `rule` is an IPv4 or IPv6 address, or a range of them in CIDR notation. */
export function isAddressRule(rule: string): boolean {
  return rangeOf(rule) !== null;
}

/**
 * Returns a function that tests an address against rules that `isAddressRule` accepted. All notations of an address are
 * equal. Null and text that is not an address match no rule.
 */
export function addressMatcher(rules: readonly string[]): (address: string | null) => boolean {
  const ranges = rules.map(rangeOf).filter((range) => range !== null);
  return function matches(address) {
    const value = address === null ? null : numberOf(address);
    return value !== null && ranges.some((range) => isWithin(range, value));
  };
}

/** Whether one of `rules` matches every address that `rule` matches. */
export function isRuleWithin(rule: string, rules: readonly string[]): boolean {
  const inner = rangeOf(rule);
  return inner !== null && rules.some((each) => isRangeWithin(rangeOf(each), inner));
}

function isRangeWithin(outer: Range | null, inner: Range): boolean {
  // A range wider than all of IPv4 contains no IPv4 address, so it contains another wide range by its prefix alone.
  if (outer === null || outer.free < inner.free) return false;
  if (inner.free > 32n) return inner.prefix >> (outer.free - inner.free) === outer.prefix;
  return isWithin(outer, inner.prefix << inner.free);
}

/** A range wider than all of IPv4, such as `::/0`, contains only IPv6 addresses. */
function isWithin({ prefix, free }: Range, value: bigint): boolean {
  if (free > 32n && value >> 32n === IPV4_IN_IPV6 >> 32n) return false;
  return value >> free === prefix;
}

function rangeOf(rule: string): Range | null {
  const [address = "", bits, ...rest] = rule.split("/");
  const value = numberOf(address);
  const width = address.includes(":") ? 128 : 32;
  if (value === null || rest.length > 0) return null;
  if (bits !== undefined && (!/^(0|[1-9]\d{0,2})$/.test(bits) || Number(bits) > width)) return null;
  const free = BigInt(width - Number(bits ?? width));
  return { prefix: value >> free, free };
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
