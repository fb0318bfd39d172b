import type { Operation, Scope } from "./operation.ts";

/** The page of the web chat, below no prefix. */
export const WEB_OPERATIONS: readonly Operation[] = [
  {
    method: "get",
    path: "/web/{channelId}",
    id: "openWebChat",
    tag: "Web chat",
    summary: "Open the web chat",
    description:
      "A page with the chat of a web channel. A site that knows its user names them in the fragment, which is never sent: `#user=…&hash=…`, the hash being the hex HMAC-SHA-256 of the user's id under the channel's identity secret. The same chat comes to any page with a script tag whose `src` is `/widget.js` and whose `data-channel` is the channel's id.",
    answers: [{ status: 200, description: "The page.", contentType: "text/html; charset=utf-8" }],
    errors: ["channel_not_found"],
  },
];

export const WEB_SCOPE: Scope = {
  limited: false,
  suffix: "ToVisitors",
  errors: ["rate_limited", "internal_error", "unavailable"],
};
