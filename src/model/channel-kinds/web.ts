import type { ChannelDescription } from "../channel-description.ts";
import { webInChats } from "./in-chats/web.ts";

export const webDescription: ChannelDescription = {
  ...webInChats,
  about: "A chat on your own site. It needs no other service.",
  network: "The visitor’s browser",
  address: "Your site’s own id of the user.",
  credentials: [],
  firstMessage: "From the preview above, or from your site.",
};
