import type { Chat } from "../api.ts";
import { TextButton } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import type { Work } from "./use-work.ts";

/** Says what a message does while the bot has the chat. */
export function BotNotice({ chat }: { chat: Chat }) {
  if (chat.handler !== "bot") return null;
  return (
    <div class="notice tone-quiet">
      <Icon name="person" />
      <p>The bot answers this chat. Your message takes it over.</p>
    </div>
  );
}

interface HandlerFactProps {
  chat: Chat;
  work: Work;
  canWrite: boolean;
}

/** Says whether the bot or people answer the chat, and changes that. */
export function HandlerFact({ chat: { handler }, work, canWrite }: HandlerFactProps) {
  const [who, act, run] =
    handler === "bot"
      ? (["The bot", "Take over", work.takeOver] as const)
      : (["People", "Hand to the bot", work.giveToBot] as const);
  return (
    <>
      {who} {canWrite && <TextButton onClick={run}>{act}</TextButton>}
    </>
  );
}
