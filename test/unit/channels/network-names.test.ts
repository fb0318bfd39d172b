import { expect, test } from "vitest";
import { NETWORKS, type NetworkKind } from "../../../src/model/channel-kind.ts";

const FILES = Object.entries(
  import.meta.glob<string>(["../../../src/**/*.{ts,tsx,css}", "!../../../src/openapi/client/types.ts"], {
    query: "?raw",
    import: "default",
    eager: true,
  }),
).map(([path, text]) => [path.replace("../../../", ""), text] as const);

/** Where everything about a network stands: its folder, and what people read about it. */
const isOwn = (kind: NetworkKind, path: string) =>
  path.startsWith(`src/channels/${kind}/`) ||
  [`src/model/channel-kinds/${kind}.ts`, `src/model/channel-kinds/in-chats/${kind}.ts`].includes(path);

/** The files that name a network and are not its own, and why. */
const NAMING = {
  "src/model/channel-kind.ts": "the lists of descriptions and renderings",
  "src/model/in-chats.ts": "the list of what chats show of each kind",
  "src/channels/registry.ts": "the list of adapters",
  "src/env.d.ts": "wrangler generates it from .dev.vars.optional.example",
  "src/cli/local/demo-messages.ts": "the demo has a chat of a network",
  "src/cli/local/demo.ts": "the demo has a channel of a network",
  "src/model/reply-window.ts": "the list of the times in which one may answer",
  "src/model/example.ts": "the examples are about one network",
  "src/openapi/examples.ts": "the examples are about one network",
  "src/openapi/what-arrives.ts": "it puts the tables of all networks into one guide",
  "src/openapi/message-operations.ts": "the examples are about one network",
  "src/openapi/operator/channels.ts": "the examples are about one network",
  "src/openapi/operator/resources.ts": "it says which channels have the setting wabaId",
  "src/web/docs/client/find.ts": "it ranks the guide of a network behind the general guides",
  "src/cli/parley/resources.ts": "it says which channels have the setting wabaId",
};

const KINDS = Object.keys(NETWORKS) as NetworkKind[];

/** Whether a text names a network, also as a part of another name: `smsUrl`, `sendSms` and `SMS_URL`, but not `itemsMs`. */
function names(kind: NetworkKind, text: string): boolean {
  const capital = kind.charAt(0).toUpperCase() + kind.slice(1);
  const forms = [`(?<![A-Za-z])${kind}`, capital, NETWORKS[kind].label].map((form) => `${form}(?![a-z])`);
  return new RegExp(`${forms.join("|")}|(?<![A-Z])${kind.toUpperCase()}(?![A-Z])`).test(text);
}

test("only the files of the list name a network beside its own", () => {
  const naming = KINDS.flatMap((kind) => FILES.filter(([path, text]) => !isOwn(kind, path) && names(kind, text))).map(
    ([path]) => path,
  );
  expect([...new Set(naming)].sort()).toEqual(Object.keys(NAMING).sort());
});

test("the check finds a network in any spelling, and no part of a word", () => {
  for (const text of ['kind === "telegram"', "In Telegram", "telegramUrl", "sendToTelegram", "TELEGRAM_API_BASE"]) {
    expect(names("telegram", text)).toBe(true);
  }
  expect(names("telegram", "telegrams, a telegraph")).toBe(false);
});

/** The descriptions, and the programs that read them. */
const READERS = /^src\/(?:(?:cli|openapi|web)\/|model\/(?:channel-kind|in-chats))/;
const READS_WORDS =
  /^import (?!type )(?:[^;]*\b(?:NETWORKS|DESCRIPTIONS|FAILURES)\b[^;]* from "[^"]*\/channel-kind\.ts"|[^;]*\b\w+(?:Description|Failures|InChats)\b[^;]* from "[^"]*\/channel-kinds\/)/m;

test("the Worker imports nothing but types from descriptions", () => {
  expect(FILES.filter(([path, text]) => READS_WORDS.test(text) && !READERS.test(path)).map(([path]) => path)).toEqual(
    [],
  );
  expect(READS_WORDS.test('import { NETWORKS } from "../model/channel-kind.ts";')).toBe(true);
  const own = 'import { whatsappDescription } from "../../model/channel-kinds/whatsapp.ts";';
  expect(READS_WORDS.test(own)).toBe(true);
  expect(READS_WORDS.test(own.replace("Description", "Rendering"))).toBe(false);
});
