import { waitBefore } from "../wait-before.ts";

/** Why a message or a file could not be sent. */
export interface Trouble {
  code: string;
  /** The server's text, for codes without a translation. */
  message: string;
  /** Seconds; null if waiting does not help. */
  retryAfter: number | null;
}

export interface UploadCall {
  file: File;
  /** The idempotency key. It stays the same in every attempt. */
  key: string;
  signal: AbortSignal;
  /** @param share of the bytes that were sent, from 0 to 1 */
  onProgress: (share: number) => void;
}

/** `lost`: the answer did not come, or the service can't take it now; a repeated upload can succeed. */
export type UploadOutcome =
  | { outcome: "stored"; mediaId: string }
  | { outcome: "refused"; trouble: Trouble }
  | { outcome: "lost" };

export type UploadFile = (call: UploadCall) => Promise<UploadOutcome>;

/** The number of attempts in a row after which a person decides whether to try again. */
const MAX_TRIES = 5;

/**
 * Uploads a file, and tries again if the answer is lost: the key stays the same, so it is stored once.
 * @param isOnline whether another attempt makes sense now
 * @returns null if the upload was stopped
 */
export async function repeatUpload(
  upload: UploadFile,
  call: UploadCall,
  isOnline: () => boolean,
): Promise<UploadOutcome | null> {
  for (let tries = 1; ; tries++) {
    call.onProgress(0);
    const answer = await upload(call).catch(() => ({ outcome: "lost" }) as const);
    if (call.signal.aborted) return null;
    if (answer.outcome !== "lost" || tries === MAX_TRIES || !isOnline()) return answer;
    await new Promise((resolve) => setTimeout(resolve, waitBefore(tries - 1, Math.random())));
    if (call.signal.aborted) return null;
  }
}
