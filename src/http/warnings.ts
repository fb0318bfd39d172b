import type { Path } from "./body-reader.ts";

/** How many warnings a response has, and how many characters each. */
export const MAX_WARNINGS = 10;
export const MAX_WARNING = 100;

const IS_NO_FIELD = " is not a field";
const CUT = "...";

/** What a request's body has that its route does not know. */
export interface WarningVariables {
  unknownFields: readonly Path[];
}

/** A success with a warning about each of these fields, of which there is at least one. */
export async function withWarnings(response: Response, unknown: readonly Path[]): Promise<Response> {
  const isCut = unknown.length > MAX_WARNINGS;
  const warnings = unknown.slice(0, isCut ? MAX_WARNINGS - 1 : MAX_WARNINGS).map(warningOf);
  if (isCut) warnings.push(`${unknown.length - warnings.length} more are not fields`);
  const text = await response.text();
  // A route with a body answers with an object that has a field.
  return new Response(`${text.slice(0, -1)},"warnings":${JSON.stringify(warnings)}}`, response);
}

/** `interactive.heading is not a field` */
function warningOf(path: Path): string {
  const text = path.map(shownName).join(".");
  const room = MAX_WARNING - IS_NO_FIELD.length;
  return `${text.length <= room ? text : `${text.slice(0, room - CUT.length)}${CUT}`}${IS_NO_FIELD}`;
}

/**
 * A client's name for a field. A name that is not plain has quotes, and all but visible ASCII is escaped: terminals obey
 * controls, and a letter of another script looks like the right one.
 */
function shownName(name: string): string {
  const beginning = name.slice(0, MAX_WARNING);
  return /^[\w$-]+$/.test(beginning) ? beginning : JSON.stringify(beginning).replace(/[^ -~]/g, escaped);
}

function escaped(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
