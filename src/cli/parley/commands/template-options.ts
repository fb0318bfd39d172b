import { CommandError } from "../../command-error.ts";
import { pairs } from "../arguments.ts";
import { type Call, listOption, option } from "../command.ts";
import { locationOf } from "./content-options.ts";

export const TEMPLATE_OPTIONS = {
  "header-media": option("url", "The https address of the media in the template's header; or give --file"),
  "header-variable": listOption("name=value", "The value of a placeholder in the template's header"),
  "header-location": option("lat,long,name,address", "The place in the template's header"),
  button: listOption(
    "index=kind:value",
    "The value of a template button, by its index from 0: 0=url:4711 is the end of its address, 1=payload:yes is returned with the tap, 2=code:SAVE10 is the code to copy",
  ),
} as const;

/** The option that sets each field. */
export const TEMPLATE_FIELDS = {
  "template.header.mediaId": "--file",
  "template.header.mediaUrl": "--header-media",
  "template.header.variables": "--header-variable",
  "template.header.location": "--header-location",
  "template.buttons": "--button",
  template: "--template",
};

type Given = Partial<Call<[], typeof TEMPLATE_OPTIONS>["options"]>;

const BUTTON_FIELDS: Record<string, string> = { url: "urlSuffix", payload: "payload", code: "code" };

/**
 * The values for a template that the options set; undefined if they set none.
 * @param mediaId the file for the header
 * @throws CommandError with exit code 2
 */
export function givenParts(given: Given, mediaId?: string) {
  const header = {
    mediaUrl: given["header-media"],
    mediaId,
    variables: pairs("header-variable", given["header-variable"]),
    location: given["header-location"] === undefined ? undefined : placeOf(given["header-location"]),
  };
  const hasHeader = Object.values(header).some((value) => value !== undefined);
  const buttons = given.button?.map(buttonOf);
  return hasHeader || buttons ? { header: hasHeader ? header : undefined, buttons } : undefined;
}

/** The part up to the first comma behind the coordinates is the name, the rest is the address. */
function placeOf(text: string) {
  const { name = "", ...place } = locationOf(text, "header-location");
  const [, first, rest] = /^([^,]+),(.+)$/s.exec(name) ?? [];
  if (first !== undefined && rest !== undefined) return { ...place, name: first.trim(), address: rest.trim() };
  throw new CommandError("--header-location needs a name and an address: lat,long,name,address.", 2);
}

function buttonOf(text: string) {
  const [, index, kind = "", value = ""] = /^(\d{1,2})=(url|payload|code):(.+)$/s.exec(text) ?? [];
  const field = BUTTON_FIELDS[kind];
  if (index !== undefined && field !== undefined) return { index: Number(index), [field]: value };
  throw new CommandError("--button must have the form index=url:…, index=payload:… or index=code:…", 2);
}
