import * as z from "zod";
import { MAX_IDEMPOTENCY_KEY } from "../chats/idempotency.ts";
import type { ErrorCode } from "../model/error.ts";
import { jsonResponse } from "./operation.ts";

/** The header `Idempotency-Key`. @param description what it is for */
export function idempotencyKey(
  example: string,
  description = "Makes an upload safe to repeat. The same key in the same chat returns the first file again.",
) {
  return {
    name: "Idempotency-Key",
    description: `${description} Keys never expire. The same key with another body is a 422. A key in quotes and the same key without quotes are two keys. A key can't contain a comma.`,
    schema: { type: "string" as const, minLength: 1, maxLength: MAX_IDEMPOTENCY_KEY, pattern: "^[^,]+$" },
    example,
  };
}

/** The header of a repeated request. @param what what the first one did */
export function replayed(what: string, request = "request with this `Idempotency-Key`") {
  return {
    "Idempotent-Replayed": {
      description: `Present if an earlier ${request} ${what}.`,
      required: false,
      schema: { type: "string", const: "true" },
      example: "true",
    },
  };
}

const uploadSchema = z
  .object({
    id: z.string().describe("The file's id, for `mediaId`"),
    contentType: z.string().describe("The media type, such as `image/jpeg`"),
    size: z.int().describe("In bytes"),
    fileName: z.string().nullable().describe("The file's name. Null if none was given"),
    width: z.int().nullable().describe("In pixels, as a picture is shown. Null if it is not a picture, or unknown"),
    height: z.int().nullable().describe("In pixels, as a picture is shown. Null if it is not a picture, or unknown"),
    expiresAt: z.iso.datetime().describe("When the file is deleted if no message names it"),
  })
  .meta({ id: "Media", title: "Media", description: "An uploaded file." });

const exampleUpload = {
  id: "med_gP4uT8mXc1VbKs2Z",
  contentType: "application/pdf",
  size: 48_213,
  fileName: "invoice.pdf",
  width: null,
  height: null,
  expiresAt: "2026-11-21T10:00:00.000Z",
};

/** The response to an upload. */
export const storedFile = jsonResponse(
  201,
  "The file.",
  z.object({ media: uploadSchema }),
  { media: exampleUpload },
  replayed("uploaded the file"),
);

export const ERRORS_OF_UPLOADS: ErrorCode[] = [
  "chat_full",
  "upload_limit",
  "length_required",
  "body_too_large",
  "media_type",
  "idempotency_mismatch",
];
