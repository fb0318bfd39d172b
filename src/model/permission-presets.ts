import { PERMISSIONS, type Permission } from "./permission.ts";

const AGENT: readonly Permission[] = [
  "chats:read",
  "chats:write",
  "messages:read",
  "messages:send",
  "notes:read",
  "notes:write",
  "events:read",
  "members:read",
  "templates:read",
  "channels:read",
];

/**
 * Permissions of members by a name: to answer customers, only to read what an agent reads, and to do everything. A preset
 * is resolved when it is given, so a member keeps what it has if a later version changes a preset.
 */
export const PRESETS = {
  agent: AGENT,
  viewer: AGENT.filter((permission) => permission.endsWith(":read")),
  manager: PERMISSIONS,
} as const satisfies Record<string, readonly Permission[]>;

export type Preset = keyof typeof PRESETS;
export const PRESET_NAMES = Object.keys(PRESETS) as [Preset, ...Preset[]];
