import { unavailable } from "../model/error.ts";
import { jurisdictionOf } from "../model/id.ts";
import { answerWithin } from "./call-object.ts";

/** R2 answers at once: what takes longer is an outage. */
export const R2_DEADLINE_MS = 10_000;

/** The files of one life of a chat. A web chat that was erased and created again has the same id and another life. */
export interface ChatLife {
  chatId: string;
  life: number;
}

/** The bucket of a chat's files, in the chat's jurisdiction and never in another one; null if there is none. */
export function bucketOf(env: Env, chatId: string): R2Bucket | null {
  const buckets: { [Name in "MEDIA" | "MEDIA_EU" | "MEDIA_US"]?: R2Bucket } = env;
  switch (jurisdictionOf(chatId)) {
    case "eu":
      return buckets.MEDIA_EU ?? null;
    case "us":
      return buckets.MEDIA_US ?? null;
    case null:
      return buckets.MEDIA ?? null;
  }
}

/** What the keys of a chat's files begin with, in all its lives. */
export function chatPrefix(chatId: string): string {
  return `${chatId}/`;
}

/** The key of a file in its bucket. */
export function fileKey({ chatId, life, mediaId }: ChatLife & { mediaId: string }): string {
  return `${chatPrefix(chatId)}${life}/${mediaId}`;
}

/** The life of the chat that a file's key names. */
export function lifeOfKey(key: string): number {
  return Number(key.split("/")[1]);
}

/** Waits for R2. @throws ApiError `unavailable` if it fails, or says nothing for long */
export async function answerOfR2<Value>(call: () => Promise<Value>): Promise<Value> {
  try {
    return await answerWithin(R2_DEADLINE_MS, call);
  } catch (error) {
    throw unavailable(error);
  }
}
