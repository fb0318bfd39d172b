import type { RenderingOf } from "../../model/content.ts";

/** How Telegram shows choices: buttons below the message. It asks for a location only in a private chat. */
export const telegramRendering: RenderingOf = ({ choices }, { address }) => {
  const [first] = choices;
  if (first?.type === "location") return address.startsWith("-") ? "text" : "keyboard";
  return first?.type === "link" ? "link" : "buttons";
};
