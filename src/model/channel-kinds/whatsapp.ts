import type { Beside, NetworkDescription } from "../channel-description.ts";
import { hasDetails, type RenderingOf } from "../content.ts";

export const whatsappDescription: Beside<NetworkDescription> = {
  about: "A business number. You need an app at Meta with WhatsApp.",
  network: "Meta",
  address: "A phone number with its country code.",
  credentials: [
    {
      name: "phoneNumberId",
      label: "Phone number ID",
      hint: "In the app at Meta, under WhatsApp → API Setup. It is not the phone number.",
      isSecret: false,
    },
    {
      name: "accessToken",
      label: "Access token",
      hint: "Of a system user, so that it does not expire.",
      isSecret: true,
    },
    { name: "appSecret", label: "App secret", hint: "In the basic settings of the app.", isSecret: true },
  ],
  webhook: {
    url: "Callback URL",
    token: "Verify token",
    enter:
      "Or in your app at Meta, open WhatsApp → Configuration and enter both texts. Under “Webhook fields”, subscribe to the fields that the check names. Then subscribe the WhatsApp Business account to the app.",
    isRegistered: true,
  },
  hasTemplates: true,
  firstMessage: "Write to the number from your own phone.",
};

/** The error codes of messages that only WhatsApp refuses. */
export const whatsappFailures = {
  outside_messaging_window: "the contact last wrote more than 24 hours ago; send a template",
  template_rejected: "the network does not have the template in this form",
};

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
