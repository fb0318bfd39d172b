/** What the networks refuse, as their documents say. Written from these, not from the renderers. */

type Fields = Record<string, unknown>;

/** All texts and numbers in a value, as texts. */
export function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value === "number") return [String(value)];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** What WhatsApp refuses in a request body. @see https://developers.facebook.com/docs/whatsapp/cloud-api/reference/messages */
export function faultsOfWhatsApp(part: unknown): string[] {
  const { type, to, recipient, biz_opaque_callback_data } = part as Fields;
  const whole = (part as Fields)[String(type)] as Fields;
  const common = [
    ...(to === undefined && recipient === undefined ? ["no recipient"] : []),
    ...text("opaque data", biz_opaque_callback_data, 512),
    ...(textsIn(part).every((each) => each.isWellFormed()) ? [] : ["half a surrogate pair"]),
  ];
  switch (type) {
    case "text":
      return [...common, ...text("text", whole.body, 4_096)];
    case "image":
    case "video":
    case "document":
    case "audio":
      return [
        ...common,
        ...("caption" in whole ? text("caption", whole.caption, type === "audio" ? -1 : 1_024) : []),
        ...("id" in whole ? text("id", whole.id, 160) : text("link", whole.link, 2_000)),
      ];
    case "interactive":
      return [...common, ...interactiveFaults(whole)];
    case "template":
      return [...common, ...templateFaults(whole)];
    case "location":
      return [
        ...common,
        ...Object.keys(whole).filter((key) => !["latitude", "longitude", "name", "address"].includes(key)),
      ];
    case "contacts": {
      const cards = whole as unknown as { name: { formatted_name?: string; first_name?: string }; phones: unknown[] }[];
      const wrong = cards.filter(({ name, phones }) => !name.formatted_name || !name.first_name || phones.length === 0);
      return [...common, ...(cards.length > 5 ? ["too many cards"] : []), ...wrong.map(() => "a card")];
    }
    default:
      return [...common, `type ${String(type)}`];
  }
}

const MOST_BODY: Record<string, number> = {
  button: 1_024,
  list: 4_096,
  cta_url: 1_024,
  location_request_message: 1_024,
};

function interactiveFaults(whole: Fields): string[] {
  const { type, header, body, footer, action } = whole as {
    type: string;
    header?: { type: string; text?: string };
    body: Fields;
    footer?: Fields;
    action: {
      button?: string;
      buttons?: { reply: { id: string; title: string } }[];
      sections?: { title?: string; rows: { id: string; title: string; description?: string }[] }[];
      parameters?: Fields;
    };
  };
  const { buttons = [], sections = [], parameters } = action;
  const rows = sections.flatMap((section) => section.rows);
  const options = [...buttons.map(({ reply }) => reply), ...rows];
  return [
    ...text("body", body.text, MOST_BODY[type] ?? -1),
    ...(header?.type === "text" ? text("header", header.text, 60) : []),
    ...(header && header.type !== "text" && type === "list" ? ["media in the header of a list"] : []),
    ...(footer ? text("footer", footer.text, 60) : []),
    ...(type === "location_request_message" && (header || footer) ? ["a frame around a request"] : []),
    ...(type === "button" ? count("buttons", buttons.length, 3) : []),
    ...buttons.flatMap(({ reply }) => text("a button", reply.title, 20)),
    ...(type === "list" ? [...count("rows", rows.length, 10), ...count("sections", sections.length, 10)] : []),
    ...(type === "list" ? text("the list's button", action.button, 20) : []),
    ...sections.flatMap(({ title, rows: own }) => [
      ...(title !== undefined || sections.length > 1 ? text("a section", title, 24) : []),
      ...count("a section's rows", own.length, 10),
    ]),
    ...rows.flatMap(({ title, description }) => [
      ...text("a row", title, 24),
      ...(description === undefined ? [] : text("a description", description, 72)),
    ]),
    ...options.flatMap(({ id }) => [...text("an id", id, 200), ...(id === id.trim() ? [] : ["spaces around an id"])]),
    ...distinct(
      "ids",
      options.map(({ id }) => id),
    ),
    ...distinct(
      "titles",
      options.map(({ title }) => title),
    ),
    ...(type === "cta_url"
      ? [
          ...text("a link", parameters?.display_text, 20),
          ...text("a URL", parameters?.url, 2_000),
          ...addressFaults(parameters?.url),
        ]
      : []),
  ];
}

const PARAMETERS: Record<string, string> = { quick_reply: "payload", url: "text", copy_code: "coupon_code" };

/** @see https://developers.facebook.com/docs/whatsapp/cloud-api/guides/send-message-templates */
function templateFaults({ name, language, components = [] }: Fields): string[] {
  const parts = components as { type: string; sub_type?: string; index?: number; parameters: Fields[] }[];
  const buttons = parts.filter(({ type }) => type === "button");
  const others = parts.filter(({ type }) => type !== "button");
  return [
    ...text("name", name, 512),
    ...text("language", (language as Fields).code, 15),
    ...count("components", parts.length, 12),
    ...others.filter(({ type }) => !["header", "body"].includes(type)).map(({ type }) => `a component ${type}`),
    ...distinct(
      "components",
      others.map(({ type }) => type),
    ),
    ...distinct(
      "indexes",
      buttons.map(({ index }) => String(index)),
    ),
    ...others.flatMap(({ parameters }) => parameters.flatMap((each) => parameterFaults(each))),
    ...buttons.flatMap(({ sub_type = "", index, parameters: [only = {}, ...more] }) => {
      const type = PARAMETERS[sub_type] ?? "";
      return [
        ...text("a button's value", only[type], sub_type === "copy_code" ? 15 : 2_000),
        ...(Number.isInteger(index) && more.length === 0 ? [] : ["a button"]),
      ];
    }),
  ];
}

function parameterFaults({ type, ...parameter }: Fields): string[] {
  const value = parameter[String(type)];
  if (type === "text")
    return [...text("a parameter", value, 4_096), ...(/[\n\t]| {2}/.test(String(value)) ? ["white space"] : [])];
  if (type === "location") return ["name", "address"].flatMap((key) => text(key, (value as Fields)[key], 4_096));
  return text("a header's link", (value as Fields).link, 2_048);
}

/** What Telegram refuses in a call. @see https://core.telegram.org/bots/api */
export function faultsOfTelegram(part: unknown): string[] {
  const { method, body } = part as { method: string; body: Fields };
  const { text: words, caption, reply_markup, vcard } = body;
  const markup = reply_markup as { inline_keyboard?: Fields[][]; keyboard?: Fields[][] } | undefined;
  const isPrivate = !String(body.chat_id).startsWith("-");
  const buttons = markup?.inline_keyboard?.flat() ?? [];
  return [
    ...(textsIn(part).every((each) => each.isWellFormed()) ? [] : ["half a surrogate pair"]),
    ...(method === "sendMessage" ? text("text", words, 4_096) : []),
    ...(caption === undefined ? [] : text("caption", caption, 1_024)),
    ...(markup?.inline_keyboard ? count("buttons", buttons.length, 100) : []),
    ...(markup?.inline_keyboard ?? []).flatMap((row) => count("buttons in a row", row.length, 8)),
    ...buttons.flatMap((button) => [
      ...text("a button", button.text, 4_096),
      ...("callback_data" in button === "url" in button ? ["a button with both or none"] : []),
      ...("callback_data" in button && bytes(button.callback_data) > 64 ? ["callback data"] : []),
    ]),
    ...(markup?.keyboard && !isPrivate ? ["a request for the location in a group"] : []),
    ...(method === "sendVenue" ? [...text("title", body.title, 4_096), ...text("address", body.address, 4_096)] : []),
    ...(method === "sendContact"
      ? [...text("phone", body.phone_number, 64), ...text("name", body.first_name, 256)]
      : []),
    ...(vcard !== undefined && bytes(vcard) > 2_048 ? ["vCard"] : []),
  ];
}

function text(name: string, value: unknown, max: number): string[] {
  if (typeof value !== "string" || value.trim() === "") return [`${name} is missing`];
  return value.length > max ? [`${name} has ${value.length} characters`] : [];
}

function count(name: string, value: number, max: number): string[] {
  return value >= 1 && value <= max ? [] : [`${value} ${name}`];
}

/** A button leads to a host name. */
function addressFaults(url: unknown): string[] {
  return /^https?:\/\/(\d+\.\d+\.\d+\.\d+|\[)/.test(String(url)) ? ["a link to an IP address"] : [];
}

function distinct(name: string, values: string[]): string[] {
  return new Set(values).size === values.length ? [] : [`${name} that are not distinct`];
}

function bytes(value: unknown): number {
  return new TextEncoder().encode(String(value)).length;
}
