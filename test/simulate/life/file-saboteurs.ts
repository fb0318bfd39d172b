import type { Replacement } from "../objects/bundle.ts";

const bucket = "src/calls/file-bucket.ts";
const chatParts = "src/chats/object/chat-parts.ts";
const erasure = "src/chats/object/erasure.ts";
const files = "src/chats/object/files/chat-files.ts";
const redactions = "src/chats/object/redactions.ts";
const scheduled = "src/chats/object/scheduled/scheduled-messages.ts";
const store = "src/files/store-file.ts";
const upload = "src/chats/upload-media.ts";

/** Wrong versions of the service that lose the bytes of files, or leave them. */
export const FILE_SABOTEURS: Readonly<Record<string, Replacement>> = {
  "bytes are written before their row": {
    file: upload,
    right: "  const reserved = await target.reserve(",
    wrong:
      "  await upload.store(bucket, fileKey({ chatId, life: 1, mediaId: id }));\n  const reserved = await target.reserve(",
  },
  "the keys of files have no life": {
    file: bucket,
    right: "mediaId }: ChatLife & { mediaId: string }): string {",
    wrong: "mediaId }: ChatLife & { mediaId: string }): string {\n  life = 1;",
  },
  "the deletion of a life takes those after it": {
    file: files,
    right: ".filter((key) => lifeOfKey(key) <= last);",
    wrong: ".filter((key) => lifeOfKey(key) <= last + 1);",
  },
  "a row goes before its bytes": {
    file: files,
    right: "    await answerOfR2(() => bucket.delete(keys));\n    if (!adoption.exists(life)) return false;",
    wrong: "    this.rows.deleted(ids, Date.now());\n    await answerOfR2(() => bucket.delete(keys));",
  },
  "the bytes of a purged original go although another message shows them": {
    file: files,
    right: `if (known?.state !== "shared") {`,
    wrong: `if (known?.state !== "shared" || this.#parts.log.byId(messageId)?.redactedAt === null) {`,
  },
  "a message that repeats another one does not count for its file": {
    file: "src/chats/object/store-messages.ts",
    right: "return { media, type, takeFile: () => this.#parts.files.share(media) };",
    wrong: "return { media, type, takeFile: () => {} };",
  },
  "a message that is sent again loses its file": {
    file: "src/chats/object/message-actions.ts",
    right: "const file = isFileMedia(original.media) ? original.media : null;",
    wrong: "const file = isFileMedia(original.media) && message.seq !== null ? null : null;",
  },
  "a redaction is answered before the bytes are gone": {
    file: redactions,
    right: "if (!isReported || !isDeleted)",
    wrong: "if (!isReported)",
  },
  "a redaction of a scheduled message is answered before the bytes are gone": {
    file: redactions,
    right: "if (!(await files.deleteNow(id)))",
    wrong: `if (id === "")`,
  },
  "a canceled message keeps its file": {
    file: scheduled,
    right: "this.#end({ ...row, message, media: null }, [], () => this.#parts.files.giveBack(row.media, id, at));",
    wrong: "this.#end({ ...row, message }, []);",
  },
  "a redacted message gives its file back": {
    file: scheduled,
    right: "this.#end(blank, [event], () => this.#parts.files.end(row.media, id, at));",
    wrong: "this.#end(blank, [event], () => this.#parts.files.giveBack(row.media, id, at));",
  },
  "a key of an upload ends when its file is used": {
    file: files,
    right: "  use({ fileId }: FileMedia): void {\n",
    wrong: `  use({ fileId }: FileMedia): void {\n    this.#parts.storage.sql.exec("delete from uploads where id = ?", fileId);\n`,
  },
  "an unused file never ends": {
    file: files,
    right: `this.rows.put({ id, meta: { state: "unused", size: info.size, info: file, uploader }, deleteAt });`,
    wrong: `this.rows.put({ id, meta: { state: "unused", size: info.size, info: file, uploader }, deleteAt: NEVER });`,
  },
  "a file that a message shows ends after a day": {
    file: files,
    right: "  use({ fileId }: FileMedia): void {\n    this.rows.remove(fileId);",
    wrong: "  use({ fileId }: FileMedia): void {\n    this.rows.byId(fileId);",
  },
  "bytes are overwritten": {
    file: store,
    right: `onlyIf: { etagDoesNotMatch: "*" },`,
    wrong: "",
  },
  "the end of a tombstone deletes no late bytes": {
    file: erasure,
    right: "if (filesOf !== undefined) await deleteLives(this.#parts.env, filesOf, life);\n    // The chat may",
    wrong: "// The chat may",
  },
  "a file of one message can be named by another": {
    file: files,
    right: "  use({ fileId }: FileMedia): void {\n    this.rows.remove(fileId);",
    wrong: "  use({ fileId }: FileMedia): void {\n    if (Date.now() % 2 === 0) this.rows.remove(fileId);",
  },
  "a reservation that arrives late takes the file of a message": {
    file: files,
    right: `if (this.rows.byId(id) || this.#isUsed(id)) return { outcome: "reserved", id, life };`,
    wrong: "",
  },
  "a file that can't be deleted holds up others": {
    file: files,
    right: "if (half > 0) parts.push(part.slice(half), part.slice(0, half));",
    wrong: "if (half > 0) break;",
  },
  "what a second upload with the same key writes late stays": {
    file: files,
    right: "const file = idempotencyHash === null ? info : { ...info, openUntil: row.deleteAt };",
    wrong: "const file = info;",
  },
  "a chat in the place of a deleted one leaves that one's late bytes": {
    file: chatParts,
    right: "if (tombstone?.filesOf !== undefined) this.files.follow(tombstone.life, tombstone.until);",
    wrong: "",
  },
};

/** These take up to 1,000 seeds. */
export const RARE_FILE_SABOTEURS: Readonly<Record<string, Replacement>> = {
  "a confirmation ignores the life of its chat": {
    file: files,
    right: "if (!row || !isLasting(row, now) || identity.life !== life)",
    wrong: "if (!row || !isLasting(row, now) || identity.life < life)",
  },
  "an upload that repeats another one has no time of its own": {
    file: files,
    right: "this.rows.put({ ...standing, deleteAt: now + RESERVED_MS });",
    wrong: "",
  },
};
