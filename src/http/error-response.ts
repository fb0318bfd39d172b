import { ApiError, ERRORS, type ErrorReply, MAX_FAULTS } from "../model/error.ts";
import { createJsonResponse, type HeaderTemplate, headerTemplate, type ResponseHeaders } from "./response.ts";

/** What a reply becomes, once it was used. */
interface Rendered {
  status: number;
  body: string;
  template: HeaderTemplate;
}

const rendered = new WeakMap<ErrorReply, Rendered>();

/**
 * The response for an error. A reply that is not an `ApiError` may be sent many times, so it is rendered once.
 * @param responseHeaders the headers of every response to this request
 */
export function errorResponse(error: ErrorReply, responseHeaders: ResponseHeaders): Response {
  let known = rendered.get(error);
  if (!known) {
    const { status, body, headers } = render(error);
    if (error instanceof ApiError) return createJsonResponse(body, status, responseHeaders, headers);
    rendered.set(error, (known = { status, body, template: headerTemplate(headers) }));
  }
  return createJsonResponse(known.body, known.status, responseHeaders, null, known.template);
}

function render(error: ErrorReply) {
  const { status, shape, text } = ERRORS[error.code];
  const { faults } = error;
  const count = faults?.length ?? 0;
  const rest = count > MAX_FAULTS ? `: the first ${MAX_FAULTS} of ${count} problems are listed` : "";
  const body = {
    [shape]: `${error.text ?? text}${rest}`,
    code: error.code,
    ...(faults && { errors: faults.slice(0, MAX_FAULTS) }),
  };
  // A 401 must name the authentication scheme (RFC 9110, 15.5.2).
  const headers = status === 401 ? { "WWW-Authenticate": "Bearer", ...error.headers } : (error.headers ?? {});
  return { status, body: JSON.stringify(body), headers };
}
