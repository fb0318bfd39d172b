/** What an API key may be allowed to do. */
export const PERMISSIONS = ["chats:read", "chats:write", "messages:read", "messages:send"] as const;
export type Permission = (typeof PERMISSIONS)[number];
