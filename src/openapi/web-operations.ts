import * as z from "zod";
import { ROOT } from "../http/root.ts";
import { answered, type Operation, type Scope } from "./operation.ts";

/** The service's front door. */
export const ROOT_OPERATIONS: readonly Operation[] = [
  {
    method: "get",
    path: "/",
    id: "readRoot",
    tag: "Service",
    summary: "Find the documentation",
    description: "Sends a browser to the documentation, and tells a program where the documents are.",
    answers: [
      answered(
        200,
        "Links for a program, below the same origin.",
        z.object({
          name: z.string().describe("The service's name"),
          docs: z.string().describe("The documentation, for people"),
          openapi: z.string().describe("The OpenAPI document of the public API"),
          health: z.string().describe("Answers 200 while the service runs"),
        }),
        ROOT,
      ),
      {
        status: 302,
        description: "The documentation, for a browser: `Accept` names `text/html`.",
        headers: {
          Location: {
            description: "Where the documentation is.",
            required: true,
            schema: { type: "string" },
            example: ROOT.docs,
          },
        },
        empty: true,
      },
    ],
  },
];

export const ROOT_SCOPE: Scope = { limited: false, suffix: "AtTheRoot", errors: ["internal_error"] };

/** The page of the web chat, below no prefix. */
export const WEB_OPERATIONS: readonly Operation[] = [
  {
    method: "get",
    path: "/web/{channelId}",
    id: "openWebChat",
    tag: "Web chat",
    summary: "Open the web chat",
    description:
      "A page with the chat of a web channel. A site that knows its user names the user in the fragment, which a browser never sends: `#user=…&hash=…`. The hash is the hex HMAC-SHA-256 of the user's id under the channel's identity secret, and never expires. For a link that expires, use `#user=…&hash=…&expires=…`: `expires` is in Unix seconds, and the hash is the hex HMAC-SHA-512 of `<expires>.<user id>`. To show the same chat on any page, add a script tag whose `src` is `/widget.js` and whose `data-channel` is the channel's id. If the channel does not exist, a browser (`Accept: text/html`) gets a page with status 404.",
    answers: [{ status: 200, description: "The page.", contentType: "text/html; charset=utf-8" }],
    errors: ["channel_not_found"],
  },
];

export const WEB_SCOPE: Scope = {
  limited: false,
  suffix: "ToVisitors",
  errors: ["rate_limited", "internal_error", "unavailable"],
};
