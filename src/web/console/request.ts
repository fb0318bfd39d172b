import { responseError } from "../../client/error.ts";

/**
 * Makes Cloudflare Access answer 401 if its session has ended, and not with a redirect that the page can't follow.
 * @see https://developers.cloudflare.com/cloudflare-one/team-and-resources/users/session-management/
 */
export function markAsScript({ headers }: Request): void {
  headers.set("X-Requested-With", "XMLHttpRequest");
}

/** The body of an answer; null without JSON. @throws ParleyError for an error */
export async function bodyOf<T>(response: Response): Promise<T> {
  const body: unknown = await response.json().catch(() => null);
  if (!response.ok) throw responseError(response, body);
  return body as T;
}
