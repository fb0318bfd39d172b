import { expect, test } from "vitest";
import { clientBlock } from "../../../src/http/client-network.ts";

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
