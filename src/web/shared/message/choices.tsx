import { Fragment } from "preact";
import { CHECK, Drawing } from "../drawing.tsx";
import { webAddress } from "../links.ts";
import { Outward } from "../outward.tsx";
import type { ShownChoice } from "./extras.ts";
import type { MessageTexts } from "./texts.ts";

const OUTWARD = "M8 16 17 7m-8 0h8v8";

interface ChoicesProps {
  choices: readonly ShownChoice[];
  /** The title of the choice that was tapped, or null. */
  tapped: string | null;
  /** Null if the reader can tap none. */
  onTap: ((choice: { id: string; title: string }) => void) | null;
  texts: MessageTexts;
}

/** The choices of a message. Replies are buttons while they can be tapped, then text with a mark at the tapped one. */
export function ChoiceList({ choices, tapped, onTap, texts }: ChoicesProps) {
  const shown = choices.map((choice, index) => (
    <Fragment key={choice.title}>
      {choice.section && choice.section !== choices[index - 1]?.section && <p class="detail">{choice.section}</p>}
      <Choice choice={choice} isTapped={choice.title === tapped} onTap={tapped === null ? onTap : null} texts={texts} />
    </Fragment>
  ));
  return (
    <fieldset class="choices">
      <legend class="hidden">{texts.choices}</legend>
      {shown}
    </fieldset>
  );
}

interface ChoiceProps extends Pick<ChoicesProps, "onTap" | "texts"> {
  choice: ShownChoice;
  isTapped: boolean;
}

function Choice({ choice, isTapped, onTap, texts }: ChoiceProps) {
  const { id, title, description } = choice;
  const href = choice.url === null ? null : webAddress(choice.url);
  if (href !== null) {
    return (
      <Outward class="pill" href={href}>
        {title}
        <Drawing path={OUTWARD} name="outward" />
      </Outward>
    );
  }
  if (id === null) {
    return (
      <p class="detail" dir="auto">
        {title}
      </p>
    );
  }
  const words = (
    <span dir="auto">
      {title}
      {description && <span class="description">{description}</span>}
    </span>
  );
  if (onTap === null) {
    return (
      <p class={isTapped ? "option tapped" : "option"}>
        {isTapped && <Drawing path={CHECK} />}
        {words}
        {isTapped && <span class="hidden"> {texts.chosen}</span>}
      </p>
    );
  }
  return (
    <button
      type="button"
      class="pill"
      onClick={({ currentTarget }) => {
        // The button goes, and with it the focus.
        currentTarget.closest<HTMLElement>(".message")?.focus({ preventScroll: true });
        onTap({ id, title });
      }}
    >
      {words}
    </button>
  );
}
