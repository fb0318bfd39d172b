import type { Outbound } from "../adapter.ts";
import { linkedMedia } from "../link.ts";

const MAX_CAPTION = 1_024;
const WITH_LINK = /https?:\/\/\S/i;
/** White space that Meta refuses in a parameter: line breaks, tabs, several spaces in a row. Other spaces are allowed. */
const WHITE = /[ \t\n\v\f\r\u0085\u2028\u2029]+/g;

/** The fields that differ between bodies: `type`, and the field that `type` names. */
type Part = { type: string } & Record<string, unknown>;

/**
 * The request bodies for a message, in order. Text that does not fit into the first body is a second one.
 * @returns null for media without a link
 */
export function bodiesOf(message: Outbound): Record<string, unknown>[] | null {
  const { address, chatId, messageId } = message;
  const common = {
    messaging_product: "whatsapp",
    recipient_type: "individual",
    // An address with other characters than digits is a user id, such as `DE.1349120865530274`. `to` accepts only numbers.
    [/^\d+$/.test(address) ? "to" : "recipient"]: address,
    biz_opaque_callback_data: `${chatId}.${messageId}`,
  };
  return partsOf(message)?.map((part) => ({ ...common, ...part })) ?? null;
}

function partsOf(message: Outbound): Part[] | null {
  const { type, template } = message;
  if (type === "TEMPLATE" && template) return [templatePart(template)];
  if (type === "TEXT" || type === "TEMPLATE") return [textPart(message.text)];
  const linked = linkedMedia(message);
  if (!linked) return null;
  const { link, caption } = linked;
  const isSeparate = caption !== null && (type === "AUDIO" || caption.length > MAX_CAPTION);
  const media = {
    link,
    ...(caption !== null && !isSeparate && { caption: caption.toWellFormed() }),
    ...(type === "DOCUMENT" && fileNameOf(link)),
  };
  const field = type.toLowerCase();
  return [{ type: field, [field]: media }, ...(isSeparate ? [textPart(caption)] : [])];
}

function textPart(body: string): Part {
  return { type: "text", text: { body: body.toWellFormed(), preview_url: WITH_LINK.test(body) } };
}

function templatePart({ name, language, parameters }: NonNullable<Outbound["template"]>): Part {
  // Meta has two kinds of templates: with numbered parameters, which are matched by order, and with named parameters.
  const numbered = parameters.every((parameter) => /^\d+$/.test(parameter.name));
  const ordered = numbered ? parameters.toSorted((one, other) => Number(one.name) - Number(other.name)) : parameters;
  const filled = ordered.map((parameter) => ({
    type: "text",
    ...(!numbered && { parameter_name: parameter.name }),
    text: parameter.value.replace(WHITE, " ").toWellFormed(),
  }));
  const components = filled.length > 0 && { components: [{ type: "body", parameters: filled }] };
  return { type: "template", template: { name, language: { code: language }, ...components } };
}

/** A document's file name, from its link. Without one, Meta shows "Untitled". */
function fileNameOf(link: string): { filename: string } | undefined {
  const name = URL.parse(link)?.pathname.split("/").at(-1);
  if (!name) return undefined;
  try {
    return { filename: decodeURIComponent(name).slice(0, 240) };
  } catch {
    return { filename: name.slice(0, 240) };
  }
}
