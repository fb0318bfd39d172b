import { convertIPv6ToBinary } from "hono/utils/ipaddr";

/** The bits before the last 32 of an IPv4 address in its IPv6 form, such as `::ffff:192.0.2.1`. */
const IPV4_PREFIX = 0xffffn;

/**
 * The network that rate limits count for an address: the address itself, or the /64 of an IPv6 address, because one
 * subscriber has a whole /64. `""` if there is no valid address.
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

/** The first and the last network of `clientNetwork` in a /48 of `clientBlock`. */
export function blockNetworks(block: string): [first: string, last: string] {
  const digits = block.slice(0, -"::/48".length);
  return [`${digits}0000::/64`, `${digits}ffff::/64`];
}

/** The /48 that contains an IPv6 network of `clientNetwork`. Null for any other network. */
export function clientBlock(network: string): string | null {
  const block = /^([0-9a-f]*?)[0-9a-f]{1,4}::\/64$/.exec(network)?.[1];
  return block === undefined ? null : `${block}::/48`;
}
