import type { UploadFile } from "../../src/web/shared/files/repeat-upload.ts";
import type { ConnectionEvents } from "../../src/web/visitor/connection.ts";
import type { OutgoingFrame } from "../../src/web/visitor/frames.ts";
import { ChatSession, type SessionOptions } from "../../src/web/visitor/session.ts";

export const nothingKept: SessionOptions["storage"] = { outbox: () => [], saveOutbox: () => {} };

/** A session whose connection the test controls. */
export function start(
  storage: SessionOptions["storage"] = nothingKept,
  upload: UploadFile = () => Promise.reject(new Error("no upload")),
) {
  const sent: OutgoingFrame[] = [];
  const asked: string[] = [];
  let events: ConnectionEvents | undefined;
  let url = () => "";
  const session = new ChatSession({
    socketUrl: (after, events) => `?after=${after}${events === null ? "" : `&events=${events}`}`,
    protocols: () => ["parley.v1"],
    storage,
    upload,
    canUpload: false,
    onChange: () => {},
    connect: (nextUrl, _protocols, given) => {
      events = given;
      url = nextUrl;
      asked.push(url());
      return { send: (frame) => void sent.push(frame), restart: () => void asked.push(url()), close: () => {} };
    },
  });
  if (!events) throw new Error("the session opened no connection");
  const { onFrame, onClose } = events;
  return { session, sent, asked, hear: onFrame, lose: (code: number, reason = "") => onClose(code, reason) };
}

export const idOf = (frame: OutgoingFrame | undefined) => (frame?.type === "message" ? frame.id : "");
