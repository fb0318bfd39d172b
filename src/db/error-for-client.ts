import { ApiError, unavailable } from "../model/error.ts";
import { causeOf } from "../platform/log.ts";
import { isQuotaRefusal } from "../platform/quota.ts";
import { isOutage } from "./client.ts";

/** An `ApiError` is for the client. The client learns nothing about any other error; its cause goes to the log. */
export function errorForClient(error: unknown, requestId: string): ApiError {
  const isOut = isOutage(error) || isQuotaRefusal(error);
  const unknown = () => (isOut ? unavailable(error) : new ApiError("internal_error", { cause: error }));
  const known = error instanceof ApiError ? error : unknown();
  if (known.status >= 500) {
    console.error({ event: "error", requestId, code: known.code, cause: causeOf(known.cause) });
  }
  return known;
}
