import * as z from "zod";
import { uploadQuery } from "../chats/upload-media.ts";
import { ROOT } from "../http/root.ts";
import { MAX_UPLOADED, MAX_VISITOR_FILE_BYTES } from "../model/visitor.ts";
import { type GroupDefaults, jsonResponse, tagged } from "./operation.ts";
import { ERRORS_OF_UPLOADS, idempotencyKey, storedFile } from "./uploads.ts";

/** The route at the root of the service. */
export const ROOT_OPERATIONS = tagged("Service", [
  {
    route: "GET /",
    id: "readRoot",
    summary: "Find the documentation",
    description: "Redirects a browser to the documentation. Returns links to any other client.",
    responses: [
      jsonResponse(
        200,
        "Links on the same origin.",
        z.object({
          name: z.string().describe("The service's name"),
          docs: z.string().describe("The documentation, for people"),
          openapi: z.string().describe("The OpenAPI document of the public API"),
          health: z.string().describe("The health check. It returns 200 while the service runs"),
        }),
        ROOT,
      ),
      {
        status: 302,
        description: "A redirect to the documentation, for requests whose `Accept` names `text/html`.",
        headers: {
          Location: {
            description: "The address of the documentation.",
            required: true,
            schema: { type: "string" },
            example: ROOT.docs,
          },
        },
        empty: true,
      },
    ],
  },
]);

export const ROOT_DEFAULTS: GroupDefaults = { limited: false, suffix: "AtTheRoot", errors: ["internal_error"] };

const MIB = 1_048_576;

/** What visitors call. It is not below the API's prefix. */
export const WEB_OPERATIONS = tagged("Web chat", [
  {
    route: "GET /web/{channelId}",
    id: "openWebChat",
    summary: "Open the web chat",
    description:
      "Returns a page with the chat of a web channel. To sign in a user of your own site, add `#user=…&hash=…&expires=…`. A browser never sends this fragment. `expires` is in Unix seconds, and `hash` is the hex HMAC-SHA-512 of `<expires>.<user id>` with the channel's identity secret as the key. Without `expires`, `hash` is the hex HMAC-SHA-256 of the user id, and never expires. To show the same chat on your own page, add a script tag whose `src` is `/widget.js` and whose `data-channel` is the channel's id. If the channel does not exist, a browser (`Accept: text/html`) gets a page with status 404.",
    responses: [{ status: 200, description: "The page.", contentType: "text/html; charset=utf-8" }],
  },
  {
    route: "POST /web/{channelId}/media",
    id: "uploadVisitorMedia",
    summary: "Upload a visitor’s file",
    description: `Stores a file that the visitor's next message can name as its \`mediaId\`. Not for API keys: the bearer token is the second subprotocol of the visitor's socket, \`token.…\` or \`user.…\`. The body is the file itself, of at most ${MAX_VISITOR_FILE_BYTES / MIB} MiB, and needs a \`Content-Length\`. A visitor can upload ${MAX_UPLOADED.visitor / MIB} MiB an hour, and one address ${MAX_UPLOADED.network / MIB} MiB. All visitors of an IPv6 /48 and of a channel have limits too, and each try counts as at least 64 KiB. Beyond a limit, the response is a 429, whose \`X-RateLimit\` headers count bytes. With an \`Idempotency-Key\`, a repeated upload returns the first file, and its bytes count once. A file may begin the visitor's chat.`,
    query: { schema: uploadQuery, descriptions: { fileName: "The file's name, as the company sees it." } },
    headers: [idempotencyKey("b2f7c1d0-photo")],
    file: "The file.",
    responses: [storedFile],
    errors: [
      "missing_authorization",
      "wrong_identity",
      "wrong_origin",
      "uploads_off",
      "chat_limit",
      ...ERRORS_OF_UPLOADS,
      "validation_failed",
    ],
  },
]);

export const WEB_DEFAULTS: GroupDefaults = {
  limited: false,
  suffix: "ToVisitors",
  errors: ["rate_limited", "internal_error", "unavailable"],
};
