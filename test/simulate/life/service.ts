/** What the simulation runs: the service's own code, bundled with simulated globals, networks and platform classes. */
export { callChat } from "../../../src/calls/call-chat.ts";
export { cancelMessage, moveMessage, resendMessage } from "../../../src/chats/cancel-and-resend.ts";
export { listScheduled } from "../../../src/chats/list-scheduled.ts";
export { ChatObject } from "../../../src/chats/object/chat-object.ts";
export { sendMessage } from "../../../src/chats/send-message.ts";
export { uploadMedia } from "../../../src/chats/upload-media.ts";
export { newId } from "../../../src/model/id.ts";
export { platform } from "../objects/globals.ts";
