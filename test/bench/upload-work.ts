import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { MAX_FILE_BYTES } from "../../src/model/file.ts";
import { createChat } from "../support/world/factories.ts";
import { createOffice } from "./fixtures.ts";
import { authorized } from "./request.ts";
import type { WorkCase } from "./work-cases.ts";
import type { WorkGround } from "./work-ground.ts";

/** Uploads are to need less than this many MB more than the same bodies put straight into R2. */
const GOAL_MB = 64;
const SLOW_SECONDS = 8;
const CHUNK = 65_536;
/** The head of a warm-up's body, with all that is read for its sides. */
const WARM_UP_BYTES = 700_000;

/** Files of the most bytes at once, with fast and slow senders, each to R2 alone and to the service. */
export const uploadWork: WorkCase[] = [0, SLOW_SECONDS].flatMap((seconds) => {
  const how = seconds > 0 ? ", slow senders" : "";
  const straight = `uploads straight into R2${how}`;
  return [
    uploads(straight, seconds, ({ server }, n) => new URL(`/put/${n}`, server.url("floors"))),
    {
      ...uploads(`uploads${how}`, seconds, ({ url }, _, chatId) => new URL(`/api/v1/chats/${chatId}/media`, url)),
      growth: { than: straight, megabytes: GOAL_MB },
    },
  ];
});

/** @param seconds how long a sender takes; 0 for as fast as it goes */
function uploads(
  name: string,
  seconds: number,
  urlOf: (ground: WorkGround, n: number, chatId: string) => URL,
): WorkCase {
  return {
    name,
    amount: 20,
    unit: `files of ${MAX_FILE_BYTES / 1_048_576} MiB at once`,
    perSecond: 10,
    async make(place, amount) {
      const { channel, chatId, secret } = await createOffice(place);
      // A chat for each upload: all of them are more than one chat keeps unused.
      const chatIds: string[] = [];
      while (chatIds.length < amount) chatIds.push((await createChat(channel)).id);
      const file = longPicture(MAX_FILE_BYTES);
      const headers = { ...authorized(secret), "Content-Type": "image/jpeg" };
      return {
        chatIds: [chatId],
        secret,
        // What runs for the first time takes memory too.
        async open(ground) {
          const head = file.subarray(0, WARM_UP_BYTES);
          for (const id of chatIds.slice(0, 2)) await post(urlOf(ground, 0, id), headers, head, 0);
        },
        async run(ground) {
          await Promise.all(chatIds.map((id, n) => post(urlOf(ground, n, id), headers, file, seconds)));
          return amount;
        },
      };
    },
  };
}

/** The dearest file: a JPEG that never says its sides, so as much of it is read for them as of any. */
function longPicture(size: number): Uint8Array {
  const bytes = new Uint8Array(size).fill(7);
  bytes.set([0xff, 0xd8, 0xff, 0xe0, 0x00, 0x10, 0x4a, 0x46, 0x49, 0x46, 0, 1, 1, 0, 0, 1, 0, 1, 0, 0]);
  for (let at = 20; at + 4 < size; at += 65_537) bytes.set([0xff, 0xed, 0xff, 0xff], at);
  return bytes;
}

/** Sends a body, in this many seconds if that is not as fast as it goes. @throws Error if it is not accepted */
async function post(url: URL, headers: Record<string, string>, body: Uint8Array, seconds: number): Promise<void> {
  const length = String(body.byteLength);
  const sent = request(url, { method: "POST", agent: false, headers: { ...headers, "Content-Length": length } });
  const pauseMs = (seconds * 1_000 * CHUNK) / body.byteLength;
  const chunks = async function* () {
    for (let at = 0; at < body.byteLength; at += CHUNK) {
      yield body.subarray(at, at + CHUNK);
      if (pauseMs > 0) await delay(pauseMs);
    }
  };
  Readable.from(chunks()).pipe(sent);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  const answer = await text(response);
  if ((response.statusCode ?? 500) >= 300) throw new Error(`${url.pathname}: ${response.statusCode} ${answer}`);
}
