import { hasDetails, type RenderingOf } from "../../model/content.ts";

const MAX_BUTTONS = 3;
const MAX_BUTTON = 20;

/**
 * How WhatsApp shows choices: up to three short replies as buttons, others as a list, one short link to a
 * host name or the request for a location as a button. Several links are text, because a message can have only one.
 * @see https://developers.facebook.com/docs/whatsapp/cloud-api/messages/interactive-list-messages
 */
export const whatsappRendering: RenderingOf = ({ choices }) => {
  const [first] = choices;
  const isShort = choices.every(({ title }) => title.length <= MAX_BUTTON);
  if (first?.type === "location") return "buttons";
  if (first?.type === "link") return choices.length === 1 && isShort && hasHostName(first.url) ? "link" : "text";
  return choices.length <= MAX_BUTTONS && isShort && !choices.some(hasDetails) ? "buttons" : "list";
};

/** Meta refuses a button that leads to an IP address. */
function hasHostName(url: string): boolean {
  try {
    return !/^(\[|[\d.]+$)/.test(new URL(url).hostname);
  } catch {
    return false;
  }
}
