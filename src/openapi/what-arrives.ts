import type { ArrivalTable } from "../channels/network/arrivals.ts";
import { TELEGRAM_ARRIVALS } from "../channels/telegram/arrivals.ts";
import { WHATSAPP_ARRIVALS } from "../channels/whatsapp/arrivals.ts";

const INTRODUCTION = `# What arrives

Each field that the networks send, and what becomes of it. \`npm run openapi\` makes this page from the code, and a test compares the fields with the types of both networks. [Rich messages](rich-messages.md#what-contacts-send) says what the fields of a message mean.

- **kept**: a field of the message or of its chat has it.
- **described**: \`content\` says it in words.
- **changes**: it changes something that is stored already.
- **left out**: nothing keeps it.

A field that is not listed here is new. If a message says nothing else, \`content\` names the field in brackets. The log has \`message field … is new\` with the field's name, and never its value.
`;

/** The guide *What arrives*, as Markdown. */
export function whatArrives(): string {
  const tables = [...WHATSAPP_ARRIVALS, ...TELEGRAM_ARRIVALS].map(printTable);
  return [INTRODUCTION, ...tables].join("\n");
}

function printTable({ title, rows }: ArrivalTable): string {
  const lines = rows.map(({ leaves, arrival: { becomes, how } }) => {
    const names = leaves.map((leaf) => `\`${leaf}\``).join(", ");
    return `| ${names} | ${becomes} | ${how} |\n`;
  });
  return `## ${title}\n\n| field | what becomes of it | where, or why |\n|---|---|---|\n${lines.join("")}`;
}
