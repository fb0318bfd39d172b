import { fetchLater } from "../../shared/fetch-later.ts";
import { repeatUpload, type UploadFile } from "../../shared/files/repeat-upload.ts";
import type { FileStage } from "../../shared/files/stage.ts";
import { addressOf } from "../api.ts";
import { SCRIPT_HEADERS } from "../request.ts";

const LOST = "The file couldn’t be sent. Check your connection.";

/** Uploads a file for a chat. */
export function uploadTo(organizationId: string, chatId: string): UploadFile {
  return async (call) => {
    const { uploadFile } = await fetchLater();
    return uploadFile(addressOf(organizationId, `/chats/${chatId}/media`), SCRIPT_HEADERS, call);
  };
}

/**
 * Uploads staged files. Each that could not be uploaded says why.
 * @returns whether all of them that are still staged are uploaded
 */
export async function uploadStaged(stage: FileStage, keys: readonly string[], upload: UploadFile): Promise<boolean> {
  for (const key of keys) {
    const staged = stage.file(key);
    if (!staged || staged.mediaId !== null) continue;
    const { file, stop } = staged;
    stage.update(key, { trouble: null });
    const onProgress = (share: number) => stage.update(key, { share });
    const answer = await repeatUpload(upload, { file, key, signal: stop.signal, onProgress }, () => navigator.onLine);
    if (answer === null) continue;
    if (answer.outcome === "stored") stage.update(key, { share: null, mediaId: answer.mediaId });
    else {
      const trouble = answer.outcome === "lost" ? LOST : answer.trouble.message;
      stage.update(key, { share: null, trouble });
    }
  }
  const left = keys.flatMap((key) => stage.file(key) ?? []);
  return left.length > 0 && left.every(({ mediaId }) => mediaId !== null);
}
