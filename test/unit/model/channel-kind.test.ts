import { expect, test } from "vitest";
import { CHANNEL_KINDS, KINDS } from "../../../src/channels/kinds.ts";
import { ADAPTERS } from "../../../src/channels/registry.ts";
import { type ChannelKind, DESCRIPTIONS, NETWORKS, type NetworkKind } from "../../../src/model/channel-kind.ts";

const KIND_NAMES = Object.keys(DESCRIPTIONS) as ChannelKind[];
const NETWORK_NAMES = Object.keys(NETWORKS) as NetworkKind[];

test("each kind of channel is described, and no other", () => {
  expect(KIND_NAMES.toSorted()).toEqual(CHANNEL_KINDS.toSorted());
  expect(NETWORK_NAMES).toEqual(Object.keys(ADAPTERS));
});

test.each(KIND_NAMES)("the credentials that %s describes are those of its channels, in their order", (kind) => {
  expect(DESCRIPTIONS[kind].credentials.map(({ name }) => name)).toEqual(Object.keys(KINDS[kind].credentials.shape));
});

test.each(NETWORK_NAMES)("%s says where to enter its webhook, unless the service registers it", (kind) => {
  expect(NETWORKS[kind].webhook.isRegistered).toBe(ADAPTERS[kind].registerWebhook !== undefined);
});
