import type { ChannelInChats } from "../../channel-description.ts";

export const whatsappInChats: ChannelInChats = {
  label: "WhatsApp",
  icon: "call",
  elsewhere: {
    app: "From the WhatsApp Business app",
    network: "From Meta’s agent",
    standby: "To Meta’s agent",
  },
};

/**
 * For how long after a contact's message WhatsApp takes free text.
 * @see https://developers.facebook.com/docs/whatsapp/conversation-types
 */
export const WHATSAPP_WINDOW_MS = 86_400_000;
