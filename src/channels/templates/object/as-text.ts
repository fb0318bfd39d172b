import type { Choices } from "../../../model/content.ts";
import type { FilledParts } from "../../../model/template.ts";

/**
 * A template for a channel without templates: its header, body and footer as text, its quick replies as choices, and its
 * other buttons as lines with their addresses.
 * @param body the filled body
 */
export function templateAsText(
  { header, footer, buttons }: FilledParts,
  body: string,
): { text: string; interactive: Choices | null } {
  const lines = buttons.map(lineOf).filter((line) => line !== null);
  const text = [headerLine(header), body, ...(lines.length > 0 ? [lines.join("\n")] : []), footer];
  return { text: text.filter((part) => part !== null).join("\n\n"), interactive: quickRepliesOf({ buttons }) };
}

/** The quick replies as choices; null if there are none. */
export function quickRepliesOf({ buttons }: Pick<FilledParts, "buttons">): Choices | null {
  const choices = buttons
    .filter((button) => button.type === "QUICK_REPLY")
    .map(({ id, text: title }) => ({ type: "reply" as const, id, title }));
  return choices.length > 0 ? { choices } : null;
}

function headerLine(header: FilledParts["header"]): string | null {
  if (header?.type === "text") return header.text;
  if (header?.type === "media") return header.link;
  if (header?.type !== "location") return null;
  const { name, address, latitude, longitude } = header.location;
  return [name, address, `${latitude}, ${longitude}`].filter((part) => part !== undefined).join("\n");
}

/** Null for a button that only its own network has. The code of an authentication template is in its body. */
function lineOf(button: FilledParts["buttons"][number]): string | null {
  if (button.type === "URL") return `${button.text}: ${button.url}`;
  if (button.type === "PHONE_NUMBER") return `${button.text}: ${button.phoneNumber}`;
  return button.type === "COPY_CODE" ? `${button.text}: ${button.code}` : null;
}
