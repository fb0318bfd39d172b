import { app } from "./app.ts";

export { ChannelObject } from "./channels/channel-object.ts";
export { ChatObject } from "./chats/chat-object.ts";
export { KeyObject } from "./keys/key-object.ts";
export { OrganizationObject } from "./organizations/organization-object.ts";
export { WebhookObject } from "./webhooks/webhook-object.ts";

export default app;
