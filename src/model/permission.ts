/** What an API key may be allowed to do. */
export const PERMISSIONS = [
  "chats:read",
  "chats:write",
  "chats:erase",
  "messages:read",
  "messages:send",
  "notes:read",
  "notes:write",
  "events:read",
  "webhooks:read",
  "webhooks:write",
  "keys:read",
  "keys:write",
  "channels:read",
  "channels:write",
  "templates:read",
  "templates:write",
  "replies:write",
  "labels:write",
  "members:read",
  "members:write",
  "stats:read",
  "audit:read",
  "data:export",
] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** The permissions of a key that was created without any. */
export const DEFAULT_PERMISSIONS: readonly Permission[] = [
  "chats:read",
  "chats:write",
  "messages:read",
  "messages:send",
];

/** What needs more than one permission, or more than a permission. */
const COMBINED = {
  // A key that configures webhooks can send all events to itself.
  "webhooks:write": ["webhooks:write", "events:read"],
  // A channel takes its chats with it.
  "channels:delete": ["channels:write", "chats:erase"],
  // Anyone who knows an identity secret can read and write as a visitor.
  "channels:identity": ["channels:write", "messages:read", "messages:send"],
  // A search of all chats also says which chats there are.
  "search:read": ["chats:read", "messages:read"],
  // It copies what all messages say into an index.
  "search:write": ["channels:write", "messages:read"],
  // What reaches the contact or changes a message that waits. No key with `draftsOnly` may do it.
  "contact:reach": ["messages:send"],
} as const satisfies Record<string, readonly Permission[]>;

/** What needs only one of several permissions. */
const EITHER = {
  // Its author can delete a note, and so can anyone who may delete it with its chat.
  "notes:delete": ["notes:write", "chats:erase"],
  // Each of its settings says what it needs.
  "organization:write": ["members:write", "channels:write"],
} as const satisfies Record<string, readonly Permission[]>;

/** What a route needs: one permission, or the name of several. */
export type Need = Permission | keyof typeof COMBINED | keyof typeof EITHER;

/** The permissions for routes that change nothing and return at most a page. Whoever sends reads the saved replies. */
export type ReadNeed = Extract<Need, `${string}:read`> | "messages:send";

/** What the routes need with which an organization's software writes all day. */
export type DailyNeed = "chats:write" | "messages:send" | "contact:reach" | "notes:write" | "notes:delete";

/** The permissions that a route needs: all of them, or one if `needsOnlyOne`. */
export function neededPermissions(need: Need): readonly Permission[] {
  const named: Partial<Record<Need, readonly Permission[]>> = { ...COMBINED, ...EITHER };
  return named[need] ?? [need as Permission];
}

/** Whether one of a route's permissions is enough. */
export function needsOnlyOne(need: Need): boolean {
  return need in EITHER;
}

/** Whether these permissions are what a route needs. */
export function allow(permissions: readonly Permission[], need: Need): boolean {
  const isGiven = (needed: Permission) => permissions.includes(needed);
  return needsOnlyOne(need) ? neededPermissions(need).some(isGiven) : neededPermissions(need).every(isGiven);
}

/** Why a client can't do what needs `need`; null if it can. */
export function lackOf(
  { permissions, draftsOnly = false }: { permissions: readonly Permission[]; draftsOnly?: boolean },
  need: Need | null,
): "permission_denied" | "drafts_only" | null {
  if (need !== null && !allow(permissions, need)) return "permission_denied";
  return draftsOnly && need === "contact:reach" ? "drafts_only" : null;
}

/** Whether a member can be assigned chats: one who may answer or change them. */
export function canTakeChats(permissions: readonly Permission[]): boolean {
  return permissions.includes("messages:send") || permissions.includes("chats:write");
}

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
  "replies:write",
  "labels:write",
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
