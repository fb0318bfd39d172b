import { jurisdictionOf } from "../ids.ts";

/** The files of one life of a chat. A web chat that was erased and begun anew has the same id, and another life. */
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

/** What the keys of a chat's files begin with. */
export function lifePrefix({ chatId, life }: ChatLife): string {
  return `${chatId}/${life}/`;
}

/** The key of a file in its bucket. */
export function fileKey({ mediaId, ...life }: ChatLife & { mediaId: string }): string {
  return `${lifePrefix(life)}${mediaId}`;
}
