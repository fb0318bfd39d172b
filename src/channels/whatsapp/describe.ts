const MAX_DESCRIPTION = 1_000;

/**
 * A short text for a message of an unsupported type: the type in brackets, then its details.
 * @param part the message's field for this type, not validated
 * @param errors why Meta did not pass the message on
 */
export function describe(type: string, part: unknown, errors: unknown): string {
  const [label, ...details] = [...detailsOf(type, part), ...listAt(errors).map((error) => at(error, "code"))];
  const detail = details.filter((each) => each !== "").join(", ");
  return `[${label}] ${detail}`.trim().slice(0, MAX_DESCRIPTION);
}

function detailsOf(type: string, part: unknown): [string, ...string[]] {
  switch (type) {
    case "button":
      return ["Button", at(part, "text")];
    case "interactive":
      return interactive(part);
    case "reaction":
      return at(part, "emoji") === "" ? ["Reaction removed"] : ["Reaction", at(part, "emoji")];
    case "location":
      return [
        "Location",
        at(part, "name"),
        at(part, "address"),
        at(part, "latitude"),
        at(part, "longitude"),
        at(part, "url"),
      ];
    case "contacts":
      return ["Contact", ...listAt(part).map(card)];
    case "order":
      return ["Order", ...listAt(part, "product_items").map(orderLine), at(part, "text")];
    case "unsupported":
      return ["Unsupported message", at(part, "type")];
    default:
      return [
        /^[a-z][a-z_]{0,39}$/.test(type) ? `${type[0]?.toUpperCase()}${type.slice(1).replaceAll("_", " ")}` : "Message",
      ];
  }
}

function interactive(part: unknown): [string, ...string[]] {
  const title = at(part, "button_reply", "title") || at(part, "list_reply", "title");
  const isReply = title !== "" || /^(button|list)_reply$/.test(at(part, "type"));
  if (isReply) return ["Reply", title, at(part, "list_reply", "description")];
  const permission = at(part, "call_permission_reply", "response");
  return permission === "" ? ["Form"] : ["Permission to call", permission];
}

function card(contact: unknown): string {
  const name = at(contact, "name", "formatted_name");
  const values = [
    ["phones", "phone"],
    ["emails", "email"],
    ["urls", "url"],
  ].flatMap(([list = "", field = ""]) => listAt(contact, list).map((each) => at(each, field)));
  return [name, at(contact, "org", "company"), ...values].filter((each) => each !== "").join(" ");
}

function orderLine(item: unknown): string {
  const price = [at(item, "item_price"), at(item, "currency")].filter((each) => each !== "").join(" ");
  return `${at(item, "quantity") || "1"} × ${at(item, "product_retailer_id")}${price && ` (${price})`}`;
}

/** The text or number at a path, as text; empty if there is none. */
function at(value: unknown, ...path: string[]): string {
  const found = fieldAt(value, ...path);
  return typeof found === "string" || typeof found === "number" ? String(found) : "";
}

/** The list at a path; empty if there is none. */
export function listAt(value: unknown, ...path: string[]): unknown[] {
  const found = fieldAt(value, ...path);
  return Array.isArray(found) ? found : [];
}

/** The value at a path; undefined if there is none. */
export function fieldAt(value: unknown, ...path: string[]): unknown {
  let found = value;
  for (const step of path) {
    found = Object.hasOwn(Object(found), step) ? (found as Record<string, unknown>)[step] : undefined;
  }
  return found;
}
