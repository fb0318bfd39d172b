import { webAddress } from "../../shared/links.ts";
import { Outward } from "../../shared/outward.tsx";
import type { Message } from "../api.ts";
import type { ConversationStore } from "./conversation-store.ts";

/** The line of the message that a reply is about, if it is loaded. A click leads to it. */
export function Quote({ store, replyTo }: { store: ConversationStore; replyTo: string }) {
  const quoted = store.messages.value.find(({ id }) => id === replyTo);
  if (!quoted) return <p class="quote">An earlier message</p>;
  return (
    <a class="quote" href={`#${replyTo}`} dir="auto">
      {quoted.text || "This message was deleted."}
    </a>
  );
}

/** What a message says besides its text: a map, and the choices with the lines around them. */
export function Extras({ message: { location, interactive } }: { message: Message }) {
  return (
    <>
      {location && (
        <p>
          <Outward href={mapOf(location)}>Open the map</Outward>
        </p>
      )}
      {interactive?.footer && (
        <p class="quiet small" dir="auto">
          {interactive.footer}
        </p>
      )}
      {interactive && (
        <ul class="choices" aria-label="Choices">
          {interactive.choices.map((choice) => {
            const href = choice.type === "link" ? webAddress(choice.url, ["https:", "http:"]) : null;
            return (
              <li key={choice.title} dir="auto">
                {href === null ? choice.title : <Outward href={href}>{choice.title}</Outward>}
              </li>
            );
          })}
        </ul>
      )}
    </>
  );
}

/** The reactions to a message, each with its side for screen readers. */
export function Reactions({ of }: { of: NonNullable<Message["reactions"]> }) {
  return (
    <p class="reactions">
      {of.map(({ by, emoji }) => (
        <span key={by} title={by === "contact" ? "The contact reacted" : "You reacted"}>
          {emoji}
        </span>
      ))}
    </p>
  );
}

function mapOf({ latitude, longitude }: NonNullable<Message["location"]>): string {
  return `https://www.openstreetmap.org/?mlat=${latitude}&mlon=${longitude}#map=16/${latitude}/${longitude}`;
}
