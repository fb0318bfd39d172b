export const BOT_TOKEN = "123456:upgrade-upgrade-upgrade-upgrade-upg";
export const ADDRESSES = { sent: "4711", waits: "4712", refused: "4713" };
/** What a contact wrote to the version that made a fixture. */
export const INBOUND = { message_id: 77, date: 1_790_000_000, chat: { id: 4714, first_name: "Ann" }, text: "Hi there" };

interface Message {
  id: string;
  seq: number;
  chatId: string;
  content: string;
  status: string;
}

/** What the version that made a fixture answered, and under which secrets it ran. */
export interface Told {
  commit: string;
  vars: Record<string, string>;
  organizationId: string;
  ownerId: string;
  webId: string;
  botId: string;
  refusedId: string;
  keyId: string;
  secret: string;
  revoked: string;
  /** The web chat, and those of Telegram by their contacts' addresses. */
  siteChat: string;
  chats: Record<string, string>;
  keyed: { body: object; message: Message };
  /** Lists and single things of the web chat. */
  answers: { path: string; answer: object }[];
  /** The messages of Telegram's chats. */
  line: Message[];
  /** Whether this version took the contact's message. */
  isHeard: boolean;
  usage: { month: string; used: number };
}
