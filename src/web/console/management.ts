import type { ComponentType } from "preact";
import { Audit } from "./audit/audit.tsx";
import { Channels } from "./channels/channels.tsx";
import { Keys } from "./keys/keys.tsx";
import { Members } from "./members/members.tsx";
import { Scheduled } from "./scheduled/scheduled.tsx";
import { Settings } from "./settings/settings.tsx";
import { Statistics } from "./statistics/statistics.tsx";
import { Templates } from "./templates/templates.tsx";
import { Webhooks } from "./webhooks/webhooks.tsx";

/** What follows the name of a screen in the path. */
interface PathProps {
  id: string | undefined;
  part: string | undefined;
}

/** All screens beside the inbox, by their path, in a file that is fetched when the first of them is opened. */
export const SCREENS: Readonly<Record<string, ComponentType<PathProps>>> = {
  audit: Audit,
  channels: Channels,
  keys: Keys,
  members: Members,
  scheduled: Scheduled,
  settings: Settings,
  statistics: Statistics,
  templates: Templates,
  webhooks: Webhooks,
};
