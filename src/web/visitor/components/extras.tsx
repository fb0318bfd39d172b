import { Fragment } from "preact";
import { webAddress } from "../../shared/links.ts";
import { Outward } from "../../shared/outward.tsx";
import type { Tapped } from "../conversation.ts";
import type { ChatMessage } from "../frames.ts";
import type { Texts } from "../locales/en.ts";
import type { ShownChoice } from "../message-extras.ts";
import type { Line } from "../timeline.ts";
import { Icon } from "./icons.tsx";

/** The element of a message. */
export function anchorOf(seq: number): string {
  return `message-${seq}`;
}

/** The message that this one answers, in one line. It leads there if the page has loaded it. */
export function Quote({ quoted, texts }: { quoted: ChatMessage | null; texts: Texts }) {
  const label = <span class="hidden">{texts.inReplyTo}: </span>;
  if (!quoted) {
    return (
      <p class="quote">
        {label}
        {texts.earlierMessage}
      </p>
    );
  }
  return (
    <button type="button" class="quote" onClick={() => jumpTo(quoted.seq)}>
      {label}
      <bdi>{quoted.text || texts.removed}</bdi>
    </button>
  );
}

function jumpTo(seq: number): void {
  const message = document.getElementById(anchorOf(seq));
  message?.scrollIntoView({ block: "center" });
  message?.focus({ preventScroll: true });
}

/** The reactions to a message, each with its side for screen readers. */
export function Reactions({ message, texts }: { message: Line["message"]; texts: Texts }) {
  if (!message.reactions) return null;
  return (
    <p class="reactions">
      {message.reactions.map(({ own, emoji }) => (
        <span key={own}>
          <span class="hidden">{own ? texts.you : texts.company}: </span>
          {emoji}
        </span>
      ))}
    </p>
  );
}

interface ChoiceButtonsProps {
  line: Line;
  texts: Texts;
  disabled: boolean;
  onTap: (text: string, choice: Tapped) => void;
}

/** The choices of a message. Replies are buttons until one of them is tapped; then the tapped one is marked. */
export function ChoiceButtons({ line, texts, disabled, onTap }: ChoiceButtonsProps) {
  const { interactive, id } = line.message;
  if (!interactive || id === undefined) return null;
  return (
    <fieldset class="choices">
      <legend class="hidden">{texts.choices}</legend>
      {interactive.choices.map((choice, index) => (
        <Fragment key={choice.title}>
          {choice.section && choice.section !== interactive.choices[index - 1]?.section && (
            <p class="detail">{choice.section}</p>
          )}
          <Choice
            choice={choice}
            tapped={line.tapped}
            texts={texts}
            disabled={disabled}
            onTap={(tapped) => onTap(choice.title, { id: tapped, title: choice.title, messageId: id })}
          />
        </Fragment>
      ))}
    </fieldset>
  );
}

interface ChoiceProps {
  choice: ShownChoice;
  tapped: string | null;
  texts: Texts;
  disabled: boolean;
  onTap: (id: string) => void;
}

function Choice({ choice, tapped, texts, disabled, onTap }: ChoiceProps) {
  const { id, title, description } = choice;
  const href = choice.url === null ? null : webAddress(choice.url);
  if (href !== null) {
    return (
      <Outward class="pill" href={href}>
        {title}
      </Outward>
    );
  }
  if (id === null) return <p class="detail">{title}</p>;
  const isTapped = title === tapped;
  return (
    <button
      type="button"
      class={isTapped ? "pill tapped" : "pill"}
      disabled={disabled || tapped !== null}
      onClick={() => onTap(id)}
    >
      {isTapped && <Icon name="sent" />}
      <span dir="auto">
        {title}
        {description && <span class="description">{description}</span>}
      </span>
      {isTapped && <span class="hidden"> {texts.chosen}</span>}
    </button>
  );
}
