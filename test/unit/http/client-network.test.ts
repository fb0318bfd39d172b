import { expect, test } from "vitest";
import { blockNetworks, clientBlock, clientNetwork } from "../../../src/http/client-network.ts";

test.each([
  ["20010db800010002::/64", "20010db80001::/48"],
  ["20010db80001ffff::/64", "20010db80001::/48"],
  ["20010db800020000::/64", "20010db80002::/48"],
  ["10002::/64", "1::/48"],
  ["2::/64", "::/48"],
  ["0::/64", "::/48"],
  ["192.0.2.1", null],
  ["", null],
  ["::/64", null],
  ["x::/64", null],
  ["x10002::/64", null],
  ["10002::/640", null],
])("the /48 of the network %j is %j", (network, block) => {
  expect(clientBlock(network)).toBe(block);
});

test.each([
  ["2001:db8:1:2::1", "20010db800010000::/64", "20010db80001ffff::/64"],
  ["1:2::", "1000200000000::/64", "100020000ffff::/64"],
])("the networks of the /48 of %s go from %s to %s", (address, first, last) => {
  const network = clientNetwork(address);
  const block = clientBlock(network);
  expect(block && blockNetworks(block)).toEqual([first, last]);
  expect([first <= network, network <= last]).toEqual([true, true]);
  expect([clientBlock(first), clientBlock(last)]).toEqual([block, block]);
});
