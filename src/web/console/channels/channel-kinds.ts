import type { Channel, Schemas } from "../api.ts";
import type { IconName } from "../parts/icon.tsx";

export type Kind = Channel["kind"];
export type Check = Schemas["ChannelCheck"];

/** A credential of a channel, and where a person finds it. */
interface CredentialField {
  name: string;
  label: string;
  hint: string;
  isSecret: boolean;
}

interface KindWords {
  label: string;
  icon: IconName;
  /** Who the messages come from, and what is needed. */
  about: string;
  /** What calls the service. */
  network: string;
  credentials: CredentialField[];
}

/** What a person reads about each kind of channel. */
export const KINDS: Record<Kind, KindWords> = {
  web: {
    label: "Web chat",
    icon: "channel",
    about: "A chat on your own site. It needs no other service.",
    network: "The visitor’s browser",
    credentials: [],
  },
  telegram: {
    label: "Telegram",
    icon: "send",
    about: "A bot. You need its token from @BotFather.",
    network: "Telegram",
    credentials: [
      { name: "botToken", label: "Bot token", hint: "@BotFather shows it after /newbot or /token.", isSecret: true },
    ],
  },
  whatsapp: {
    label: "WhatsApp",
    icon: "phone",
    about: "A business number. You need an app at Meta with WhatsApp.",
    network: "Meta",
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
      { name: "appSecret", label: "App secret", hint: "In the app’s basic settings.", isSecret: true },
    ],
  },
};

export const KIND_NAMES = ["web", "whatsapp", "telegram"] as const satisfies Kind[];

/** The lines that put a web chat on a site. */
export function snippetOf(channelId: string): string {
  return `<script src="${location.origin}/widget.js"\n  data-channel="${channelId}"></script>`;
}
