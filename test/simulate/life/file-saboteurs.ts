import { wrongVersions } from "../objects/wrong-versions.ts";

/** Wrong versions of the service that lose the bytes of files, or leave them. */
export const FILE_SABOTEURS = wrongVersions({
  "src/chats/upload-media.ts": {
    "bytes are written before their row": [
      "  const reserved = await target.reserve(",
      "  await upload.store(bucket, fileKey({ chatId, life: 1, mediaId: id }));\n  const reserved = await target.reserve(",
    ],
  },
  "src/calls/file-bucket.ts": {
    "the keys of files have no life": [
      "mediaId }: ChatLife & { mediaId: string }): string {",
      "mediaId }: ChatLife & { mediaId: string }): string {\n  life = 1;",
    ],
  },
  "src/chats/object/files/chat-files.ts": {
    "the deletion of a life takes those after it": [
      ".filter((key) => lifeOfKey(key) <= last);",
      ".filter((key) => lifeOfKey(key) <= last + 1);",
    ],
    "a row goes before its bytes": [
      "    await answerOfR2(() => bucket.delete(keys));\n    if (!adoption.exists(life)) return false;",
      "    this.rows.deleted(ids, Date.now());\n    await answerOfR2(() => bucket.delete(keys));",
    ],
    "the bytes of a purged original go although another message shows them": [
      `if (known?.state !== "shared") {`,
      `if (known?.state !== "shared" || this.#parts.log.byId(messageId)?.redactedAt === null) {`,
    ],
    "a key of an upload ends when its file is used": [
      "  use({ fileId }: FileMedia): void {\n",
      `  use({ fileId }: FileMedia): void {\n    this.#parts.tables.uploads.run("delete from uploads where id = ?", fileId);\n`,
    ],
    "an unused file never ends": [
      `this.rows.put({ id, meta: { state: "unused", size: info.size, info: file, uploader }, deleteAt });`,
      `this.rows.put({ id, meta: { state: "unused", size: info.size, info: file, uploader }, deleteAt: NEVER });`,
    ],
    "a file that a message shows ends after a day": [
      "  use({ fileId }: FileMedia): void {\n    this.rows.remove(fileId);",
      "  use({ fileId }: FileMedia): void {\n    this.rows.byId(fileId);",
    ],
    "a file of one message can be named by another": [
      "  use({ fileId }: FileMedia): void {\n    this.rows.remove(fileId);",
      "  use({ fileId }: FileMedia): void {\n    if (Date.now() % 2 === 0) this.rows.remove(fileId);",
    ],
    "a reservation that arrives late takes the file of a message": [
      `if (this.rows.byId(id) || this.#isUsed(id)) return { outcome: "reserved", id, life };`,
      "",
    ],
    "a file that can't be deleted holds up others": [
      "if (half > 0) parts.push(part.slice(half), part.slice(0, half));",
      "if (half > 0) break;",
    ],
    "what a second upload with the same key writes late stays": [
      "const file = idempotencyHash === null ? info : { ...info, openUntil: row.deleteAt };",
      "const file = info;",
    ],
  },
  "src/chats/object/store-messages.ts": {
    "a message that repeats another one does not count for its file": [
      "return { media, type, takeFile: () => this.#parts.files.share(media) };",
      "return { media, type, takeFile: () => {} };",
    ],
  },
  "src/chats/object/cancel-and-resend.ts": {
    "a message that is sent again loses its file": [
      "const file = isFileMedia(original.media) ? original.media : null;",
      "const file = isFileMedia(original.media) && message.seq !== null ? null : null;",
    ],
  },
  "src/chats/object/redactions.ts": {
    "a redaction is answered before the bytes are gone": ["if (!isReported || !isDeleted)", "if (!isReported)"],
  },
  "src/chats/object/scheduled/scheduled-messages.ts": {
    "a canceled message keeps its file": [
      "this.#end({ ...row, message, media: null }, [], () => this.#parts.files.giveBack(row.media, id, at));",
      "this.#end({ ...row, message }, []);",
    ],
    "a redacted message gives its file back": [
      "this.#end(blank, [event], () => this.#parts.files.end(row.media, id, at));",
      "this.#end(blank, [event], () => this.#parts.files.giveBack(row.media, id, at));",
    ],
  },
  "src/files/store-file.ts": {
    "bytes are overwritten": [`onlyIf: { etagDoesNotMatch: "*" },`, ""],
  },
  "src/chats/object/erasure.ts": {
    "the end of a tombstone deletes no late bytes": [
      "if (filesOf !== undefined) await deleteLives(this.#parts.env, filesOf, life);\n    // The chat may",
      "// The chat may",
    ],
  },
  "src/chats/object/chat-parts.ts": {
    "a chat in the place of a deleted one leaves that one's late bytes": [
      "if (tombstone?.filesOf !== undefined) this.files.follow(tombstone.life, tombstone.until);",
      "",
    ],
  },
});

/** These take up to 1,000 seeds. */
export const RARE_FILE_SABOTEURS = wrongVersions({
  "src/chats/object/files/chat-files.ts": {
    "a confirmation ignores the life of its chat": [
      "if (!row || !isLasting(row, now) || identity.life !== life)",
      "if (!row || !isLasting(row, now) || identity.life < life)",
    ],
    "an upload that repeats another one has no time of its own": [
      "this.rows.put({ ...standing, deleteAt: now + RESERVED_MS });",
      "",
    ],
  },
});
