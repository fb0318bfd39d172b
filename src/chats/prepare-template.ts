import { fillParts } from "../channels/templates/check.ts";
import type { RefusedDraft, UsedTemplate } from "../model/chat-answers.ts";
import { MAX_CONTENT } from "../model/message.ts";
import { fillTemplate, type Variables } from "../model/placeholder.ts";
import type { TemplateComponent, TemplateParts } from "../model/template.ts";

/** A template as the directory has it. `components`, `status` and `category` are null if it was never synced. */
export interface DirectoryTemplate {
  name: string;
  language: string;
  body: string;
  components: TemplateComponent[] | null;
  status: string | null;
  /** What the network says that it is for, such as MARKETING. */
  category: string | null;
}

/** The text of a template and its values, or the first reason to refuse. Nothing is checked of one that was never synced. */
export function preparedTemplate(
  { name, language, body, components, status, category }: DirectoryTemplate,
  { variables = {}, template: given }: { variables?: Variables | undefined; template?: TemplateParts | undefined },
): { outcome: "filled"; text: string; template: UsedTemplate } | RefusedDraft {
  const filled = fillTemplate(body, variables, MAX_CONTENT);
  if ("missing" in filled) {
    const faults = filled.missing.map((variable) => ({ path: `variables.${variable}`, message: "is required" }));
    return { outcome: "refused", code: "validation_failed", faults };
  }
  if ("tooLong" in filled) {
    const message = `fill the template to more than ${MAX_CONTENT} characters`;
    return { outcome: "refused", code: "validation_failed", faults: [{ path: "variables", message }] };
  }
  const { text, parameters } = filled;
  const template = { name, language, parameters };
  if (components === null) {
    if (!given) return { outcome: "filled", text, template };
    const message = "can't be given, because the template was not synced from its network";
    return { outcome: "refused", code: "validation_failed", faults: [{ path: "template", message }] };
  }
  const parts = fillParts({ components, status: status ?? "" }, given ?? {}, parameters);
  if ("refusal" in parts) return { outcome: "refused", ...parts.refusal };
  if ("faults" in parts) return { outcome: "refused", code: "validation_failed", faults: parts.faults };
  const isMarketing = category === "MARKETING" && { isMarketing: true as const };
  return { outcome: "filled", text, template: { ...template, parts: parts.filled, ...isMarketing } };
}
