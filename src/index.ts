import { app } from "./app.ts";

export { ChannelObject } from "./channels/object/channel-object.ts";
export { ChatObject } from "./chats/object/chat-object.ts";
export { KeyObject } from "./keys/object/key-object.ts";
export { OrganizationObject } from "./organizations/object/organization-object.ts";
export { WebhookObject } from "./webhooks/object/webhook-object.ts";

export default app;
