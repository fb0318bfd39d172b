/** Messages to write into a web chat: `count` of them, the first with the number `from`. */
export interface Messages {
  chatId: string;
  senderId: string;
  /** When the first message was sent, Unix milliseconds. Each further one was sent a millisecond later. */
  startsAt: number;
  from: number;
  count: number;
}

/** Chats without messages to write into an organization: `count` of them, the first with the number `from`. */
export interface Chats {
  organizationId: string;
  channelId: string;
  /** Their ids begin with this, and end with ten digits of their numbers. */
  stem: string;
  /** Their contacts' addresses begin with this, and end with their numbers. */
  name: string;
  /** The member whose chats every 25th is. */
  assigneeId: string;
  /** If it is not null, only every 10th is open, every 40th waits for an answer, and every 20th has this label. */
  labelId: string | null;
  /** When the chat with the number 0 was active, Unix milliseconds. Each further one was active a millisecond later. */
  startsAt: number;
  from: number;
  count: number;
}

/** The id of the chat with a number. */
export function chatIdOf({ stem }: Pick<Chats, "stem">, number: number): string {
  return stem + String(number).padStart(10, "0");
}
