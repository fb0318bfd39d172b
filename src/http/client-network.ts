import { convertIPv6ToBinary } from "hono/utils/ipaddr";

/** IPv4 in its IPv6 form, `::ffff:192.0.2.1`, has these bits before the last 32. */
const IPV4_PREFIX = 0xffffn;

/**
 * What an address is counted under: itself, or of an IPv6 address its /64, which one subscriber has all of. A text that
 * is no address, or none, is `""`: all such are counted together.
 */
export function clientNetwork(address: string | null): string {
  if (address === null) return "";
  if (!address.includes(":")) return /^[\d.]{7,15}$/.test(address) ? address : "";
  try {
    const value = convertIPv6ToBinary(address);
    if (value >> 32n !== IPV4_PREFIX) return `${(value >> 64n).toString(16)}::/64`;
    return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 0xffn).join(".");
  } catch {
    return "";
  }
}

/** The /48 that an IPv6 network of `clientNetwork` lies in; null for anything else. */
export function clientBlock(network: string): string | null {
  const [, block] = /^([0-9a-f]*?)[0-9a-f]{1,4}::\/64$/.exec(network) ?? [];
  return block === undefined ? null : `${block}::/48`;
}
