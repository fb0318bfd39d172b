import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { UploadCall, UploadOutcome } from "../../src/web/shared/files/repeat-upload.ts";
import type { OwnMessage } from "../../src/web/visitor/conversation.ts";
import type { ChatSession, ChosenFile, SessionOptions } from "../../src/web/visitor/session.ts";
import { ready, stored } from "./frames.ts";
import { idOf, nothingKept, start } from "./session-fixtures.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A session that may upload. Each upload waits for an answer of the test. */
function startUploads(storage: SessionOptions["storage"] = nothingKept) {
  const calls: (UploadCall & { answer: (outcome: UploadOutcome) => Promise<void> })[] = [];
  const started = start(
    storage,
    (call) =>
      new Promise((resolve) => {
        calls.push({
          ...call,
          answer: async (outcome) => {
            resolve(outcome);
            await vi.advanceTimersByTimeAsync(0);
          },
        });
      }),
  );
  started.hear({ ...ready([]), features: ["uploads"] });
  return { ...started, calls };
}

function staged(name: string): ChosenFile {
  const shown = { name, kind: "picture", size: 3, width: 2, height: 1, url: `blob:${name}` } as const;
  return { file: new File(["abc"], name, { type: "image/png" }), shown };
}

const outboxOf = ({ view }: ChatSession) => view.conversation.outbox.map(({ text, trouble }) => [text, trouble?.code]);

test("files go one after the other, the first with the text, and what is written later after them", async () => {
  const { session, sent, hear, calls } = startUploads();
  expect(session.view.canUpload).toBe(true);
  session.sendFiles("Look", [staged("a.png"), staged("b.png")]);
  session.write("Later");
  expect([calls.length, sent]).toEqual([1, []]);
  calls[0]?.onProgress(0.5);
  expect(session.view.uploading).toEqual({ id: calls[0]?.key, name: "a.png", share: 0.5 });
  await calls[0]?.answer({ outcome: "stored", mediaId: "med_1" });
  expect(session.view.uploading?.share).toBe(1);
  expect(sent).toEqual([{ type: "message", id: calls[0]?.key, content: "Look", mediaId: "med_1" }]);
  hear(stored(idOf(sent[0]), 1));
  expect(session.view.conversation.entries[0]?.message).toMatchObject({
    type: "IMAGE",
    text: "Look",
    mediaUrl: "blob:a.png",
  });
  await calls[1]?.answer({ outcome: "stored", mediaId: "med_2" });
  hear(stored(idOf(sent[1]), 2));
  expect(sent.slice(1)).toMatchObject([{ content: "med_2", mediaId: "med_2" }, { content: "Later" }]);
  expect(session.view.conversation.entries[1]?.message).toMatchObject({ text: "b.png", content: "med_2" });
});

test("a lost upload is repeated with its key, four times; then the visitor decides", async () => {
  const { session, sent, calls } = startUploads();
  session.sendFiles("", [staged("a.png")]);
  for (let tries = 1; tries <= 5; tries++) {
    expect(calls).toHaveLength(tries);
    await calls.at(-1)?.answer({ outcome: "lost" });
    await vi.advanceTimersByTimeAsync(30_000);
  }
  expect([calls.length, outboxOf(session), session.view.uploading]).toEqual([5, [["", "upload_failed"]], null]);
  session.sendAgain(calls[0]?.key ?? "");
  await calls[5]?.answer({ outcome: "stored", mediaId: "med_1" });
  expect(new Set(calls.map(({ key }) => key)).size).toBe(1);
  expect(sent).toMatchObject([{ mediaId: "med_1" }]);
});

test("an upload that ends while the connection is lost is sent on the next one", async () => {
  const { session, sent, hear, lose, calls } = startUploads();
  session.sendFiles("", [staged("a.png"), staged("b.png")]);
  lose(1006);
  await calls[0]?.answer({ outcome: "stored", mediaId: "med_1" });
  expect(sent).toEqual([]);
  hear(ready([]));
  hear(stored(idOf(sent[0]), 1));
  lose(1006);
  await calls[1]?.answer({ outcome: "lost" });
  expect(outboxOf(session)).toEqual([["", undefined]]);
  hear(ready([]));
  expect(calls).toHaveLength(3);
});

test("a refused file is shown with its reason, keeps its text, and lets the next message go", async () => {
  const { session, sent, calls } = startUploads();
  session.sendFiles("Caption", [staged("a.png")]);
  session.write("Later");
  await calls[0]?.answer({ outcome: "refused", trouble: { code: "media_type", message: "No", retryAfter: null } });
  expect(outboxOf(session)).toEqual([
    ["Caption", "media_type"],
    ["Later", undefined],
  ]);
  expect(sent).toMatchObject([{ content: "Later" }]);
});

test("a file that is taken back is not sent, and its late answer changes nothing", async () => {
  const { session, sent, calls } = startUploads();
  session.sendFiles("", [staged("a.png"), staged("b.png")]);
  session.withdraw(calls[0]?.key ?? "");
  expect([calls[0]?.signal.aborted, calls.length]).toEqual([true, 2]);
  await calls[0]?.answer({ outcome: "stored", mediaId: "med_1" });
  await calls[1]?.answer({ outcome: "stored", mediaId: "med_2" });
  expect(sent).toMatchObject([{ mediaId: "med_2" }]);
});

test("after a reload a file that was not uploaded must be chosen again, and one that was goes", () => {
  const file = { ...staged("a.png").shown, url: "" };
  const own = { writtenAt: 1, afterSeq: 0, tried: false, echo: null, seq: null, trouble: null };
  const outbox: OwnMessage[] = [
    { ...own, id: "one", text: "Caption", file: { ...file, mediaId: null } },
    { ...own, id: "two", text: "", file: { ...file, mediaId: "med_2" } },
  ];
  const { session, sent } = startUploads({ ...nothingKept, outbox: () => outbox });
  expect(outboxOf(session)).toEqual([
    ["Caption", "file_gone"],
    ["", undefined],
  ]);
  expect(sent).toMatchObject([{ id: "two", mediaId: "med_2" }]);
});
