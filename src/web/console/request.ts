import { responseError } from "../../client/error.ts";

/**
 * Make Cloudflare Access answer 401 if its session has ended, and not with a redirect that the page can't follow.
 * @see https://developers.cloudflare.com/cloudflare-one/team-and-resources/users/session-management/
 */
export const SCRIPT_HEADERS = { "X-Requested-With": "XMLHttpRequest" };

export function markAsScript({ headers }: Request): void {
  for (const [name, value] of Object.entries(SCRIPT_HEADERS)) headers.set(name, value);
}

/** The body of an answer; null without JSON. @throws ParleyError for an error */
export async function bodyOf<T>(response: Response): Promise<T> {
  const body: unknown = await response.json().catch(() => null);
  if (!response.ok) throw responseError(response, body);
  return body as T;
}
