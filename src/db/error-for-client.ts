import { ApiError, unavailable } from "../model/error.ts";
import { causeOf } from "../platform/log.ts";
import { isQuotaRefusal } from "../platform/quota.ts";
import { isOutage } from "./client.ts";

/** An `ApiError` is for the client. The client learns nothing about any other error; its cause goes to the log. */
export function errorForClient(error: unknown, requestId: string): ApiError {
  const known = asApiError(error);
  if (known.status >= 500) {
    console.error({ event: "error", requestId, code: known.code, cause: causeOf(known.cause) });
  }
  return known;
}

/** The error that the client gets for this one. It logs nothing. */
export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const isOut = isOutage(error) || isQuotaRefusal(error);
  return isOut ? unavailable(error) : new ApiError("internal_error", { cause: error });
}
