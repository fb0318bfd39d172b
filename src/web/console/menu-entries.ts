import type { IconName } from "./parts/icon.tsx";

/** A screen of the menu. */
export interface MenuEntry {
  path: string;
  label: string;
  icon: IconName;
  /** The second key after `g`. */
  key: string;
  /** What a person needs to open it. */
  permission?: string;
}

/** The menu, in its order. */
export const MENU: readonly MenuEntry[] = [
  entry("Inbox", "i", "chats:read"),
  entry("Scheduled", "s", "chats:read", "clock"),
  entry("Channels", "c", "channels:read", "channel"),
  entry("Webhooks", "w", "webhooks:read", "webhook"),
  entry("Keys", "k", "keys:read", "key"),
  entry("Templates", "t", "templates:read", "template"),
  entry("Members", "m", "members:read", "members"),
  entry("Statistics", "n", "stats:read", "chart"),
  entry("Audit", "a", "audit:read", "audit"),
  entry("Settings", "o", undefined, "settings"),
];

function entry(label: string, key: string, permission?: string, icon: IconName = "inbox"): MenuEntry {
  return { path: label.toLowerCase(), label, icon, key, ...(permission && { permission }) };
}
