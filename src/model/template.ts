import type { Location } from "./content.ts";

/** What a template consists of, as its network approved it. The names are those of the network's own documents. */

/** `OTHER`: a format that the service can't send. */
export const HEADER_FORMATS = ["TEXT", "IMAGE", "VIDEO", "DOCUMENT", "LOCATION", "OTHER"] as const;
/** `OTHER`: a button that the service can't send. `OTP`: the service fills in the code. */
export const BUTTON_TYPES = ["QUICK_REPLY", "URL", "PHONE_NUMBER", "COPY_CODE", "OTP", "VOICE_CALL", "OTHER"] as const;
export const PARAMETER_FORMATS = ["POSITIONAL", "NAMED"] as const;

export interface TemplateButton {
  type: (typeof BUTTON_TYPES)[number];
  text: string;
  /** The address of a `URL` button. It may end with a placeholder. */
  url?: string | undefined;
  phoneNumber?: string | undefined;
}

/** `OTHER`: a part that the service can't send, such as `CAROUSEL`. */
export type TemplateComponent =
  | { type: "HEADER"; format: (typeof HEADER_FORMATS)[number]; text?: string | undefined }
  | { type: "BODY"; text: string }
  | { type: "FOOTER"; text: string }
  | { type: "BUTTONS"; buttons: TemplateButton[] }
  | { type: "OTHER"; name: string };

/** What a network says about a template. */
export interface TemplateState {
  /** The network's id of the template. */
  id: string;
  /** Only `APPROVED` can be sent. `DELETED`: the network no longer has it. */
  status: string;
  category: string | null;
  quality: string | null;
  /** Null if it was not rejected, or without a reason. */
  rejectedReason: string | null;
}

/** The same as it is stored. Times are Unix milliseconds. */
export interface StoredTemplateState extends TemplateState {
  /** When it was stored. */
  syncedAt: number;
  /** When the network reported it, in whole seconds. Older reports change nothing. */
  saidAt: number;
}

/** The name and the language of a template, which identify it in its account. */
export interface TemplateKey {
  name: string;
  language: string;
}

/** A template as its network lists it. */
export interface ListedTemplate extends TemplateKey {
  body: string;
  parameterFormat: (typeof PARAMETER_FORMATS)[number];
  components: TemplateComponent[];
  state: TemplateState;
}

/** The values of a send for the parts of a template besides its body. */
export interface TemplateParts {
  header?:
    | {
        mediaUrl?: string | undefined;
        /** The id of an uploaded file, which the message then shows. */
        mediaId?: string | undefined;
        fileName?: string | undefined;
        variables?: Record<string, string | number> | undefined;
        location?: Location | undefined;
      }
    | undefined;
  buttons?:
    | {
        /** From 0, over all buttons. */
        index: number;
        urlSuffix?: string | undefined;
        payload?: string | undefined;
        code?: string | undefined;
      }[]
    | undefined;
}

export interface TemplateParameter {
  name: string;
  value: string;
}

/** The parts of a template besides its body, with the values of a message. They are stored with it. */
export interface FilledParts {
  header:
    | { type: "text"; text: string; parameters: TemplateParameter[] }
    /** `link`: null for the message's own file. */
    | { type: "media"; format: "IMAGE" | "VIDEO" | "DOCUMENT"; link: string | null; fileName: string | null }
    | { type: "location"; location: Location }
    | null;
  footer: string | null;
  /** All buttons, in their order. */
  buttons: FilledButton[];
}

/** `id`: what comes back with a tap. `suffix`: null if the address has no placeholder. */
export type FilledButton =
  | { type: "QUICK_REPLY"; text: string; id: string }
  | { type: "URL"; text: string; url: string; suffix: string | null }
  | { type: "COPY_CODE" | "OTP"; text: string; code: string }
  | { type: "PHONE_NUMBER"; text: string; phoneNumber: string }
  | { type: "VOICE_CALL"; text: string };
