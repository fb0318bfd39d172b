/** What the simulation runs: the service's own code, bundled with simulated globals, networks and platform classes. */

export { callChat } from "../../../src/calls/call-chat.ts";
export { ChannelObject } from "../../../src/channels/object/channel-object.ts";
export { cancelMessage } from "../../../src/chats/cancel-and-resend.ts";
export { ChatObject } from "../../../src/chats/object/chat-object.ts";
export { sendMessage } from "../../../src/chats/send-message.ts";
export { platform } from "../objects/globals.ts";
