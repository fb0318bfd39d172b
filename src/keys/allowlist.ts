import { BlockList, isIP } from "node:net";

/** Whether `rule` is an IPv4 or IPv6 address, or a range of them in CIDR notation. */
export function isAddressRule(rule: string): boolean {
  const [address = "", bits, ...rest] = rule.split("/");
  const family = isIP(address);
  if (family === 0 || address.includes("%") || rest.length > 0) return false;
  if (bits === undefined) return true;
  return /^(0|[1-9]\d{0,2})$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128);
}

/**
 * A test of addresses against rules that `isAddressRule` accepted. An IPv4 address that comes mapped into IPv6
 * (`::ffff:192.0.2.1`) is the IPv4 address. No address, or a text that is none, matches nothing.
 */
export function addressMatcher(rules: readonly string[]): (address: string | null) => boolean {
  const list = new BlockList();
  for (const rule of rules) {
    const [address = "", bits] = rule.split("/");
    const family = isIP(address) === 4 ? "ipv4" : "ipv6";
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return function matches(address) {
    const family = address === null ? 0 : isIP(address);
    return address !== null && family !== 0 && list.check(address, family === 4 ? "ipv4" : "ipv6");
  };
}
