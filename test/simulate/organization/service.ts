/** What the simulation runs: the service's own code, bundled with simulated globals, networks and platform classes. */

export { callChat } from "../../../src/calls/call-chat.ts";
export { callOrganization } from "../../../src/calls/call-organization.ts";
export { openVisitorChat } from "../../../src/calls/open-visitor-chat.ts";
export { createChat } from "../../../src/chats/create-chat.ts";
export { ChatObject } from "../../../src/chats/object/chat-object.ts";
export { sendMessage } from "../../../src/chats/send-message.ts";
export { isOutage } from "../../../src/db/client.ts";
export { storeItem } from "../../../src/inbound/store-item.ts";
export { eraseChannel, eraseChat, eraseOrganization } from "../../../src/management/erase.ts";
export { newId } from "../../../src/model/id.ts";
export { webChatId } from "../../../src/model/visitor.ts";
export { OrganizationObject } from "../../../src/organizations/object/organization-object.ts";
export { platform } from "../objects/globals.ts";
