/** The part of Node's `node:net` that the Worker uses: Node's own types would bring its globals along. */
declare module "node:net" {
  export function isIP(text: string): 0 | 4 | 6;
  export class BlockList {
    addAddress(address: string, family: "ipv4" | "ipv6"): void;
    addSubnet(network: string, prefix: number, family: "ipv4" | "ipv6"): void;
    check(address: string, family: "ipv4" | "ipv6"): boolean;
  }
}
