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
  { path: "inbox", label: "Inbox", icon: "inbox", key: "i", permission: "chats:read" },
  { path: "scheduled", label: "Scheduled", icon: "clock", key: "s", permission: "chats:read" },
  { path: "channels", label: "Channels", icon: "channel", key: "c", permission: "channels:read" },
  { path: "webhooks", label: "Webhooks", icon: "webhook", key: "w", permission: "webhooks:read" },
  { path: "keys", label: "Keys", icon: "key", key: "k", permission: "keys:read" },
  { path: "replies", label: "Replies", icon: "reply", key: "r", permission: "messages:send" },
  { path: "templates", label: "Templates", icon: "template", key: "t", permission: "templates:read" },
  { path: "members", label: "Members", icon: "members", key: "m", permission: "members:read" },
  { path: "statistics", label: "Statistics", icon: "chart", key: "n", permission: "stats:read" },
  { path: "audit", label: "Audit", icon: "audit", key: "a", permission: "audit:read" },
  { path: "settings", label: "Settings", icon: "settings", key: "o" },
];
