import { CommandError } from "../../command-error.ts";
import { pairs } from "../arguments.ts";
import { type Call, flag, listOption, option } from "../command.ts";

export const CONTENT_OPTIONS = {
  choice: listOption(
    "id=title",
    "A reply that the contact can tap: your own id and the title, or id=title|description",
  ),
  link: listOption("title=url", "A link that the contact can tap"),
  "ask-location": option("title", "A button that sends the contact's location"),
  header: option("text", "A line above the text, with choices"),
  footer: option("text", "A line below the text, with choices"),
  menu: option("text", "The label of the button that opens a list of choices"),
  "reply-to": option("msg_…", "The message that this one replies to"),
  location: option("lat,long[,name]", "A place, in degrees; the text describes it where a channel can't show it"),
  voice: flag("Send the AUDIO as a voice note, where the channel can"),
  contact: listOption("name=phone", "A contact card; separate several numbers with commas"),
} as const;

/** The option that sets each field. */
export const CONTENT_FIELDS = {
  "interactive.choices": "--choice, --link or --ask-location",
  "interactive.header": "--header",
  "interactive.footer": "--footer",
  "interactive.menuTitle": "--menu",
  interactive: "--choice, --link or --ask-location",
  location: "--location",
  contacts: "--contact",
  voice: "--voice",
  replyTo: "--reply-to",
};

type Given = Partial<Call<[], typeof CONTENT_OPTIONS>["options"]>;

/** The fields of a send that the options set. @throws CommandError with exit code 2 */
export function givenContent(given: Given) {
  const { choice = [], link = [], header, footer, menu: menuTitle } = given;
  const asked = given["ask-location"];
  const choices = [
    ...choice.map(replyOf),
    ...link.map((text) => ({ type: "link", ...parted(text, "link", ["title", "url"]) })),
    ...(asked === undefined ? [] : [{ type: "location", title: asked }]),
  ];
  if (choices.length === 0 && [header, footer, menuTitle].some((text) => text !== undefined)) {
    throw new CommandError("--header, --footer and --menu need choices: --choice, --link or --ask-location.", 2);
  }
  return {
    interactive: choices.length > 0 ? { choices, header, footer, menuTitle } : undefined,
    location: given.location === undefined ? undefined : locationOf(given.location),
    contacts: given.contact?.map(cardOf),
    voice: given.voice || undefined,
    replyTo: given["reply-to"],
  };
}

function replyOf(text: string) {
  const { id, rest } = parted(text, "choice", ["id", "rest"]);
  const at = rest.indexOf("|");
  if (at === -1) return { type: "reply", id, title: rest };
  return { type: "reply", id, title: rest.slice(0, at).trim(), description: rest.slice(at + 1).trim() };
}

function cardOf(text: string) {
  const { name, phones } = parted(text, "contact", ["name", "phones"]);
  return { name, phones: phones.split(",").map((phone) => phone.trim()) };
}

/** The latitude and longitude, and all that follows as the name. @throws CommandError with exit code 2 */
export function locationOf(text: string, flag = "location"): { latitude: number; longitude: number; name?: string } {
  const number = String.raw`\s*([+-]?\d+(?:\.\d+)?)\s*`;
  const [, latitude, longitude, name] = new RegExp(`^${number},${number}(?:,(.*))?$`, "s").exec(text) ?? [];
  if (latitude === undefined) {
    throw new CommandError(`--${flag} must have the form lat,long or lat,long,name, for example 52.52,13.4,Berlin.`, 2);
  }
  const place = { latitude: Number(latitude), longitude: Number(longitude) };
  return name === undefined ? place : { ...place, name: name.trim() };
}

/** The two sides of the first `=`. */
function parted<One extends string, Other extends string>(text: string, flag: string, [one, other]: [One, Other]) {
  const [[left, right] = []] = Object.entries(pairs(flag, [text]) ?? {});
  return { [one]: left, [other]: right } as Record<One | Other, string>;
}
