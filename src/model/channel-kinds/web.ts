import type { Beside, ChannelDescription } from "../channel-description.ts";

export const webDescription: Beside<ChannelDescription> = {
  about: "A chat on your own site. It needs no other service.",
  network: "The visitor’s browser",
  address: "Your site’s own id of the user.",
  credentials: [],
  firstMessage: "From the preview above, or from your site.",
};
