import { PAGE } from "./conversation.ts";
import { type ChatMessage, readFrame } from "./frames.ts";

const PATIENCE_MS = 10_000;

/**
 * The page of messages before `first`, read by a second, short-lived socket: the protocol only reads forward, and a
 * socket that starts a page earlier gets just what is missing in its first frame. It acknowledges nothing.
 * @throws Error when the socket closes, or nothing comes in time
 */
export function fetchOlder(url: (after: number) => string, protocols: string[], first: number): Promise<ChatMessage[]> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url(Math.max(0, first - 1 - PAGE)), protocols);
    const fail = () => {
      clearTimeout(patience);
      socket.close();
      reject(new Error("no page came"));
    };
    const patience = setTimeout(fail, PATIENCE_MS);
    socket.addEventListener("close", fail);
    socket.addEventListener("message", ({ data }) => {
      const frame = readFrame(data);
      if (frame?.type !== "ready") return;
      clearTimeout(patience);
      socket.removeEventListener("close", fail);
      socket.close();
      resolve(frame.messages.filter(({ seq }) => seq < first));
    });
  });
}
