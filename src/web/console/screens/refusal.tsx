import type { ParleyError } from "../../../client/error.ts";

const TEXTS: Readonly<Record<string, string>> = {
  wrong_token: "This is not the operator’s token. It is the service’s ADMIN_TOKEN.",
  link_invalid: "This link no longer works. Ask for a new one.",
  access_invalid: "Cloudflare Access has not signed you in. Is /console behind it?",
  access_unknown: "No member has your email. Ask the operator or a colleague to add you.",
};

/** Why a sign-in was refused, and what to do. */
export function Refusal({ error }: { error: ParleyError }) {
  return (
    <p class="refusal tone-bad" role="alert">
      {textOf(error)}
    </p>
  );
}

function textOf({ code, status, message, retryAfterSeconds }: ParleyError): string {
  if (status === null) return "The service can’t be reached. Check your connection.";
  if (status === 429) return `Too many attempts. Try again in ${retryAfterSeconds ?? 10} seconds.`;
  if (status === 503) return "No one can sign in now: the service is down or not configured.";
  return TEXTS[code] ?? message;
}
