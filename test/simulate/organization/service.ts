/** What the simulation runs: the service's own code, bundled with simulated globals, networks and platform classes. */
export { eraseChannel, eraseChat, eraseOrganization } from "../../../src/admin/erase.ts";
export { webChatId } from "../../../src/channels/web/chat-id.ts";
export { callChat } from "../../../src/chats/call-chat.ts";
export { ChatObject } from "../../../src/chats/chat-object.ts";
export { createChat } from "../../../src/chats/create-chat.ts";
export { sendMessage } from "../../../src/chats/send-message.ts";
export { openVisitorChat } from "../../../src/chats/visitors/open-visitor-chat.ts";
export { isOutage } from "../../../src/db/client.ts";
export { newId } from "../../../src/ids.ts";
export { storeItem } from "../../../src/inbound/store-item.ts";
export { callOrganization } from "../../../src/organizations/call-organization.ts";
export { OrganizationObject } from "../../../src/organizations/organization-object.ts";
export { platform } from "../objects/globals.ts";
