import type { Body, Outgoing } from "../adapter.ts";

const MAX_CAPTION = 1_024;
const WITH_LINK = /https?:\/\/\S/i;
/** White space that Meta refuses in a parameter: line breaks, tabs, several spaces in a row. Other spaces are allowed. */
const WHITE = /[ \t\n\v\f\r\u0085\u2028\u2029]+/g;

/** The fields that differ between bodies: `type`, and the field that `type` names. */
type Fields = { type: string } & Record<string, unknown>;

/** The request body of a part. */
export type WhatsAppPart = Record<string, unknown>;

/** The request bodies for a message, in order. Text that does not fit into the first body is a second one. */
export function renderForWhatsApp({ address, chatId, messageId, body }: Outgoing): WhatsAppPart[] {
  const common = {
    messaging_product: "whatsapp",
    recipient_type: "individual",
    // An address with other characters than digits is a user id, such as `DE.1349120865530274`. `to` accepts only numbers.
    [/^\d+$/.test(address) ? "to" : "recipient"]: address,
    biz_opaque_callback_data: `${chatId}.${messageId}`,
  };
  return fieldsOf(body).map((fields) => ({ ...common, ...fields }));
}

function fieldsOf(body: Body): Fields[] {
  if (body.kind === "template") return [templateFields(body)];
  if (body.kind === "text") return [textFields(body.text)];
  const { type, link, caption } = body;
  const isSeparate = caption !== null && (type === "AUDIO" || caption.length > MAX_CAPTION);
  const media = {
    link,
    ...(caption !== null && !isSeparate && { caption: caption.toWellFormed() }),
    ...(type === "DOCUMENT" && fileNameOf(link)),
  };
  const field = type.toLowerCase();
  return [{ type: field, [field]: media }, ...(isSeparate ? [textFields(caption)] : [])];
}

function textFields(body: string): Fields {
  return { type: "text", text: { body: body.toWellFormed(), preview_url: WITH_LINK.test(body) } };
}

function templateFields({ name, language, parameters }: Body & { kind: "template" }): Fields {
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
