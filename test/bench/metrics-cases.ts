import { newId } from "../../src/model/id.ts";
import { createChannel, createChat, createOrganization } from "../support/world/factories.ts";
import { type Case, eachOnce } from "./cases.ts";
import type { Place } from "./fixtures.ts";
import { TWO_CALLS } from "./floor-cases.ts";
import { get } from "./request.ts";
import { type Sizes, shown } from "./sizes.ts";

/** How many channels each of a few organizations has. */
const CHANNELS_EACH = 10;
const FILLED_AT_ONCE = 20;

/** Pages of the metrics, read anew each time: those of many organizations, and of as many channels in a tenth of them. */
export function metricsCases({ watched }: Sizes): Case[] {
  return [
    metricsCase(`metrics of ${shown(watched)} organizations with a channel each`, watched, 1),
    metricsCase(
      `metrics of ${shown(watched)} channels in ${shown(Math.ceil(watched / CHANNELS_EACH))} organizations`,
      Math.ceil(watched / CHANNELS_EACH),
      CHANNELS_EACH,
    ),
  ];
}

function metricsCase(name: string, organizations: number, channelsEach: number): Case {
  return {
    name,
    front: "parley",
    connections: 1,
    floor: TWO_CALLS,
    make: async (place) => {
      const begunAt = Date.now();
      for (let made = 0; made < organizations; made += FILLED_AT_ONCE) {
        const some = Math.min(FILLED_AT_ONCE, organizations - made);
        await Promise.all(Array.from({ length: some }, () => fill(place, channelsEach)));
      }
      // The Worker remembers a page by its cursor. Each of these begins before the first of the organizations.
      const cursor = () => Buffer.from(JSON.stringify([begunAt, newId("org", null)])).toString("base64url");
      return eachOnce(() => get(`/admin/v1/metrics?after=${cursor()}`, place.adminToken), 200);
    },
  };
}

/** An organization whose channels have a chat each, because an organization's object knows no other channels. */
async function fill(place: Place, channels: number): Promise<void> {
  const organization = await createOrganization(place);
  for (let n = 0; n < channels; n++) await createChat(await createChannel(organization));
}
