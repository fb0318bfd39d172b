import { readFile } from "node:fs/promises";
import { PassThrough } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { COMMON_OPTIONS, findCommand, pairs, parseArguments, refuseSecrets } from "../../src/cli/parley/arguments.ts";
import { COMMANDS } from "../../src/cli/parley/commands.ts";
import { confirm } from "../../src/cli/parley/deletion.ts";
import { waitAfter } from "../../src/cli/parley/follow.ts";
import { helpOf, overview } from "../../src/cli/parley/help.ts";
import { nearestCommand } from "../../src/cli/parley/nearest.ts";
import { Output } from "../../src/cli/parley/output.ts";
import { ServiceFault, Unreachable } from "../../src/cli/parley/service.ts";
import { aligned, printable, widthOf } from "../../src/cli/parley/table.ts";
import { relativeTime } from "../../src/cli/parley/times.ts";

const KEY = `ply_${"a".repeat(54)}`;

test("each command's help names its operands and options, and the overview names each command", () => {
  for (const command of COMMANDS) {
    const help = helpOf(command);
    expect(help).toContain(`Usage: parley ${command.name}`);
    for (const name of [...Object.keys(command.options), ...Object.keys(COMMON_OPTIONS)]) {
      expect(help, command.name).toContain(`--${name}`);
    }
    expect(overview(COMMANDS)).toContain(`  ${command.name}`);
    const found = findCommand(COMMANDS, [...command.name.split(" "), "--help"]);
    expect(found?.command).toBe(command);
    expect(parseArguments(command, ["--help"]).options.help).toBe(true);
  }
});

test("a guide lists each command", async () => {
  const guide = await readFile(new URL("../../src/docs/command-line.md", import.meta.url).pathname, "utf8");
  const listed = [...guide.matchAll(/^\| `parley (\w+)` \| (.*) \|$/gm)].flatMap(([, group = "", words = ""]) => {
    const actions = COMMANDS.filter(({ name }) => name.startsWith(`${group} `)).map(({ name }) => name.split(" ")[1]);
    const named = [...words.matchAll(/`([a-z][a-z-]*)`/g)].map(([, word = ""]) => word);
    const whole = COMMANDS.filter(({ name }) => name === group).map(({ name }) => name);
    return [...whole, ...(actions.length > 0 ? named.map((word) => `${group} ${word}`) : [])];
  });
  expect(listed.sort()).toEqual(COMMANDS.map(({ name }) => name).sort());
});

test.for([
  [["keys", "list", "--api-key", "hunter2"], "PARLEY_API_KEY"],
  [["keys", "list", "--admin-token=hunter2"], "PARLEY_ADMIN_TOKEN"],
  [["channels", "create", "--Bot-Token=hunter2"], "PARLEY_BOT_TOKEN"],
  [["channels", "create", "--app-secret", "hunter2"], "PARLEY_APP_SECRET"],
  [["login", `--url=https://x?${KEY}`], "PARLEY_API_KEY"],
  [["keys", "show", KEY], "PARLEY_API_KEY"],
] as const)("a secret among the arguments is refused with its place, and not repeated: %j", ([argv, variable]) => {
  let said = "";
  try {
    refuseSecrets([...argv]);
  } catch (error) {
    said = (error as Error).message;
    expect(error).toMatchObject({ exitCode: 2 });
  }
  expect(said).toContain(variable);
  expect(said).not.toMatch(/hunter2|aaaaaa/);
});

test("a text that looks like an option can be sent after --", () => {
  expect(() => refuseSecrets(["send", "cht_g1", "--", "--token"])).not.toThrow();
});

test.for([
  ["redact", "cht_g1"],
  ["chats", "show", "../organizations"],
  ["chats", "show", "msg_g1"],
  ["keys", "create"],
  ["keys", "list", "--organization", "x"],
  ["keys", "list", "extra"],
  ["keys", "list", "--nonsense"],
  ["keys", "list", "--page"],
])("%j is a mistake in the command", (argv) => {
  const found = findCommand(COMMANDS, argv);
  const read = () => found && parseArguments(found.command, found.rest);
  expect(read).toThrow(expect.objectContaining({ exitCode: 2 }));
  expect(read).toThrow(/^(?!.*(extra|organizations))/);
});

test.for([
  [["keys", "revoke", "key_g1", "--yess"], "There is no option --yess. Did you mean --yes?"],
  [["keys", "list", "--organizatoin=hunter2"], "There is no option --organizatoin. Did you mean --organization?"],
  [["keys", "list", "--nonsense"], "There is no option --nonsense."],
  [["keys", "list", "--page"], "--page needs a value."],
  [["keys", "list", "--json=yes"], "Option '--json' does not take an argument."],
] as const)("%j is explained in plain words", ([argv, sentence]) => {
  const found = findCommand(COMMANDS, [...argv]);
  const usage = `${sentence} Run \`parley ${argv[0]} ${argv[1]} --help\` for details.`;
  expect(() => found && parseArguments(found.command, found.rest)).toThrow(expect.objectContaining({ message: usage }));
});

test.for([
  [["keys", "lst"], "keys list"],
  [["key", "list"], "keys list"],
  [["chanels", "create"], "channels create"],
  [["keys", "delete"], "keys revoke"],
  [["chats", "get"], "chats show"],
  [["templates", "update"], "templates change"],
  [["reply", "list"], "replies list"],
  [["label", "list"], "labels list"],
  [["member", "remove"], "members delete"],
  [["tial", "cht_g1"], "tail"],
  [["nonsense"], null],
] as const)("for %j the nearest command is %s", ([words, name]) => {
  expect(
    nearestCommand(
      COMMANDS.map((command) => command.name),
      [...words],
    ),
  ).toBe(name);
});

test.for([
  ["y\n", true],
  ["Yes\n", true],
  ["\n", false],
  ["n\n", false],
  [null, false],
] as const)("on a terminal, %j to the question confirms: %s", async ([typed, confirms]) => {
  const input = Object.assign(new PassThrough(), { isTTY: true });
  const output = new PassThrough();
  const asked = confirm("revoke key key_g1", undefined, input, output);
  input.end(typed ?? "");
  if (confirms) await asked;
  else await expect(asked).rejects.toThrow("Canceled. Nothing was changed.");
  expect(String(output.read())).toContain("Revoke key key_g1? This can't be undone. [y/N] ");
});

test("a text without quotes is an error that mentions quotes", () => {
  const words = (argv: string[]) => {
    const found = findCommand(COMMANDS, argv);
    return () => found && parseArguments(found.command, found.rest);
  };
  expect(words(["send", "cht_g1", "Hello", "there"])).toThrow("Put a text of several words in quotes.");
  expect(words(["chats", "show", "cht_g1", "there"])).toThrow(/^(?!.*quotes)/);
});

test("pairs are split at their first equals sign", () => {
  expect(pairs("variable", ["a=1=2", "b="])).toEqual({ a: "1=2", b: "" });
  expect(() => pairs("variable", ["=x"])).toThrow("--variable must have the form name=value.");
});

test("only a terminal without NO_COLOR is colored", () => {
  const painted = (isTTY: boolean, noColor: boolean) => {
    const sink = { isTTY, write: () => {} };
    return new Output({ json: false, stdout: sink, stderr: sink, noColor }).paint("red", "text");
  };
  expect(painted(true, false)).not.toBe("text");
  expect(stripVTControlCharacters(painted(true, false))).toBe("text");
  expect(painted(true, true)).toBe("text");
  expect(painted(false, false)).toBe("text");
});

test("columns are aligned, whatever they contain", () => {
  const [one = "", two = ""] = aligned([
    ["日本", "x"],
    ["e\u0301tat", "y"],
  ]);
  expect([one, two]).toEqual(["日本  x", "e\u0301tat  y"]);
});

test("characters that control a terminal or the text's direction are replaced", () => {
  expect(printable("a\u001b[2Jb\u202ec\td\r\ne\u009b")).toBe("a·[2Jb·c·d⏎e·");
});

test.for([
  [0, "now"],
  [-59_000, "59 sec. ago"],
  [-60_000, "1 min. ago"],
  [-7_200_000, "2 hr. ago"],
  [59_900, "in 59 sec."],
  [80_000, "in 1 min."],
  [3_599_700, "in 1 hr."],
  [7_199_700, "in 2 hr."],
  [-40 * 86_400_000, "1 mo. ago"],
] as const)("%i ms from now is %s", ([ms, words]) => {
  const now = Date.UTC(2026, 10, 20);
  expect(relativeTime(new Date(now + ms).toISOString(), now)).toBe(words);
});

test("tail doubles its wait up to 30 seconds, and respects Retry-After", () => {
  const lost = new Unreachable("https://x", "ECONNRESET", "");
  expect([1, 2, 3, 6, 60].map((failures) => waitAfter(lost, failures, 1))).toEqual([
    1_000, 2_000, 4_000, 30_000, 30_000,
  ]);
  expect(waitAfter(lost, 3, 0)).toBe(2_000);
  expect(waitAfter(new ServiceFault("", 429, "rate_limited", 40), 1, 0)).toBe(40_000);
  expect(waitAfter(new ServiceFault("", 502, null, null), 1, 1)).toBe(1_000);
  for (const status of [401, 403, 404]) {
    const fault = new ServiceFault("", status, null, null);
    expect(() => waitAfter(fault, 1, 1)).toThrow(fault);
  }
});

test("a record shows no control character, also in the names of its fields", () => {
  let text = "";
  const stdout = { isTTY: true, write: (part: string) => (text += part) };
  const chat = { metadata: { "\u001b[2Jkey": "\u001b]0;title\u0007" } };
  new Output({ json: false, stdout, stderr: stdout, noColor: true }).record({ chat }, chat);
  expect(text).toBe("metadata.·[2Jkey  ·]0;title·\n");
});

test("JSON on a terminal has no control character, and is the same for programs", () => {
  const message = { text: "\u009b2J\u007f\u001b[31m ü" };
  const writtenOn = (isTTY: boolean) => {
    let text = "";
    const stdout = { isTTY, write: (part: string) => (text += part) };
    new Output({ json: true, stdout, stderr: stdout, noColor: true }).document(message);
    return text;
  };
  expect(writtenOn(true)).not.toMatch(/[^\P{Cc}\n]/u);
  for (const isTTY of [true, false]) expect(JSON.parse(writtenOn(isTTY))).toEqual(message);
  expect(writtenOn(false)).toBe(`${JSON.stringify(message, null, 2)}\n`);
});

test("a table fits on a terminal: empty columns go, wide ones are shortened, and ids stay whole", () => {
  const row = {
    id: "key_gWq6pR2nVt70HsdE",
    name: "Shop backend",
    permissions: Array(8).fill("messages:send"),
    quota: null,
  };
  const columns = { ID: "id", NAME: "name", PERMISSIONS: "permissions", QUOTA: "quota" };
  const linesOf = (sink: { isTTY: boolean; columns: number }) => {
    let text = "";
    const stdout = { ...sink, write: (part: string) => (text += part) };
    new Output({ json: false, stdout, stderr: stdout, noColor: true }).list({ keys: [row] }, "keys", columns);
    return text.trimEnd().split("\n");
  };
  const narrow = linesOf({ isTTY: true, columns: 80 });
  for (const line of narrow) expect(widthOf(line)).toBeLessThanOrEqual(80);
  expect(narrow[0]).toBe("ID                    NAME          PERMISSIONS");
  expect(narrow[1]).toMatch(/^key_gWq6pR2nVt70HsdE {2}Shop backend {2}messages:send, .*…$/);
  expect(linesOf({ isTTY: false, columns: 80 })[1]).toMatch(/messages:send {2}–$/);
  expect(linesOf({ isTTY: true, columns: 10 })[1]).toMatch(/^key_gWq6pR2nVt70HsdE {2}Shop ba… {2}messages:s…$/);
});
