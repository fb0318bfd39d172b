/** What an API key may be allowed to do. */
export const PERMISSIONS = [
  "chats:read",
  "chats:write",
  "messages:read",
  "messages:send",
  "events:read",
  "webhooks:read",
  "webhooks:write",
] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** The permissions of a key that was created without any. */
export const DEFAULT_PERMISSIONS: readonly Permission[] = [
  "chats:read",
  "chats:write",
  "messages:read",
  "messages:send",
];

/**
 * The permissions that a route with `permission` needs. A key that configures webhooks needs `events:read` too, because
 * it can send all events to itself.
 */
export function neededPermissions(permission: Permission): readonly Permission[] {
  return permission === "webhooks:write" ? ["webhooks:write", "events:read"] : [permission];
}
