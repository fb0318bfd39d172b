import { tapData } from "../../model/content.ts";
import { type OutboundFile, sentNameOf } from "../../model/file.ts";
import type { OutboundTemplate } from "../../model/network.ts";
import type { FilledButton, FilledParts, TemplateParameter } from "../../model/template.ts";

/** White space that Meta refuses in a parameter: line breaks, tabs, several spaces in a row. Other spaces are allowed. */
const WHITE = /[ \t\n\v\f\r\u0085\u2028\u2029]+/g;

type Component = Record<string, unknown>;

/** The field `template` of a request body. `file`: the message's own, for the header. */
export function templateObject(
  { name, language, parameters, parts, file = null }: OutboundTemplate & { file?: OutboundFile | null },
  messageId: string,
): Component {
  const components = [
    ...(parts ? headerOf(parts.header, file) : []),
    ...(parameters.length > 0 ? [{ type: "body", parameters: textParameters(parameters) }] : []),
    ...(parts ? buttonsOf(parts.buttons, messageId) : []),
  ];
  return { name, language: { code: language }, ...(components.length > 0 && { components }) };
}

/** Meta has two kinds of templates: with numbered parameters, which are matched by order, and with named parameters. */
function textParameters(parameters: readonly TemplateParameter[]): Component[] {
  const numbered = parameters.every((parameter) => /^\d+$/.test(parameter.name));
  const ordered = numbered ? parameters.toSorted((one, other) => Number(one.name) - Number(other.name)) : parameters;
  return ordered.map(({ name, value }) => ({
    type: "text",
    ...(!numbered && { parameter_name: name }),
    text: lineText(value),
  }));
}

function headerOf(header: FilledParts["header"], file: OutboundFile | null): Component[] {
  if (!header || (header.type === "text" && header.parameters.length === 0)) return [];
  return [{ type: "header", parameters: headerParameters(header, file) }];
}

function headerParameters(header: NonNullable<FilledParts["header"]>, file: OutboundFile | null): Component[] {
  if (header.type === "text") return textParameters(header.parameters);
  if (header.type === "location") return [{ type: "location", location: { ...header.location } }];
  const { format, link } = header;
  const type = format.toLowerCase();
  const isNamed = format === "DOCUMENT" && link === null && file !== null;
  const fileName = header.fileName ?? (isNamed ? sentNameOf(file) : null);
  return [
    {
      type,
      [type]: { ...(link === null ? { id: file } : { link }), ...(fileName !== null && { filename: fileName }) },
    },
  ];
}

/** The buttons with a value. A tap on a quick reply brings the same as one on a choice. */
function buttonsOf(buttons: readonly FilledButton[], messageId: string): Component[] {
  let replies = 0;
  return buttons.flatMap((button, index) => {
    const value = button.type === "QUICK_REPLY" ? replyValue(messageId, replies++) : valueOfButton(button);
    return value ? [{ type: "button", sub_type: value.subType, index, parameters: [value.parameter] }] : [];
  });
}

function replyValue(messageId: string, choice: number) {
  return { subType: "quick_reply", parameter: { type: "payload", payload: tapData(messageId, choice) } };
}

/** Null for a button without a value. The button of an authentication template is the one of an address for Meta. */
function valueOfButton(button: FilledButton) {
  switch (button.type) {
    case "URL":
      return button.suffix === null
        ? null
        : { subType: "url", parameter: { type: "text", text: lineText(button.suffix) } };
    case "OTP":
      return { subType: "url", parameter: { type: "text", text: lineText(button.code) } };
    case "COPY_CODE":
      return { subType: "copy_code", parameter: { type: "coupon_code", coupon_code: lineText(button.code) } };
    default:
      return null;
  }
}

function lineText(text: string): string {
  return text.replace(WHITE, " ").toWellFormed();
}
