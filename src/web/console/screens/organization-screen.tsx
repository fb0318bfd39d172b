// biome-ignore-all assist/source/organizeImports: as in screens.ts
import type { ComponentType } from "preact";
import { Statistics } from "../statistics/statistics.tsx";
import { Audit } from "../audit/audit.tsx";
import { Members } from "../members/members.tsx";
import { Scheduled } from "../scheduled/scheduled.tsx";
import { Keys } from "../keys/keys.tsx";
import { Webhooks } from "../webhooks/webhooks.tsx";
import { Replies } from "../replies/replies.tsx";
import { Templates } from "../templates/templates.tsx";
import { Channels } from "../channels/channels.tsx";
import { Settings } from "../settings/settings.tsx";
import type { ScreenParts } from "../location.ts";
import { NotFound } from "../parts/not-found.tsx";

/** By the name in the address, with how many parts may follow it. */
const SCREENS: Readonly<Record<string, [ComponentType<ScreenParts>, number]>> = {
  channels: [Channels, 2],
  webhooks: [Webhooks, 2],
  keys: [Keys, 1],
  replies: [Replies, 1],
  templates: [Templates, 1],
  members: [Members, 0],
  scheduled: [Scheduled, 0],
  audit: [Audit, 0],
  statistics: [Statistics, 0],
  settings: [Settings, 0],
};

/** A screen of an organization other than its inbox. */
export function OrganizationScreen({ parts: [name = "", ...rest] }: { parts: string[] }) {
  const [Screen, most = 0] = (Object.hasOwn(SCREENS, name) && SCREENS[name]) || [];
  if (!Screen || rest.length > most) return <NotFound />;
  return <Screen id={rest[0]} part={rest[1]} />;
}
