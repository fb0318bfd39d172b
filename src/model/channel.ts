import type { AwaySetting } from "./away.ts";
import type { BotSetting } from "./bot-setting.ts";
import type { HoursSetting } from "./opening-hours-schema.ts";
import type { Uploads } from "./page-facts.ts";
import type { PageSettings } from "./page-settings.ts";

/** A channel's decrypted credentials. Each kind of channel has its own fields. */
export type Credentials = Readonly<Record<string, string>>;

/**
 * `stopWords`: with which texts a contact ends marketing. `bot`: which key answers new chats first. `hours`: when people
 * answer. `away`: what contacts get who write outside of them. On web channels: `allowedOrigins`, who can send files
 * (`uploads`), and how the page looks. On the others: `perSecond`, the maximum number of calls per second, and `wabaId`,
 * the account at the network that the channel's templates belong to.
 */
export interface ChannelSettings extends PageSettings {
  allowedOrigins?: string[] | undefined;
  uploads?: Uploads | undefined;
  perSecond?: number | undefined;
  wabaId?: string | undefined;
  stopWords?: string[] | undefined;
  bot?: BotSetting | undefined;
  away?: AwaySetting | undefined;
  hours?: HoursSetting | undefined;
}
