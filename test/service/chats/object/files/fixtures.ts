import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { fileKey } from "../../../../../src/calls/file-bucket.ts";
import type { Draft, FileRequest, SendAnswer } from "../../../../../src/model/chat-answers.ts";
import { newId } from "../../../../../src/model/id.ts";
import { runAlarm } from "../../../../support/alarms.ts";
import { asOwner } from "../../../../support/as-owner.ts";
import { draft } from "../../../../support/drafts.ts";
import { admin, newChat, newOrganization } from "../../../../support/harness.ts";
import { ringDue } from "../retention/fixtures.ts";

export const MINUTE = 60_000;
export const DAY = 1_440 * MINUTE;
const INFO = { contentType: "image/png", size: 5, fileName: "a.png", width: 2, height: 3 };

export type FileChat = Awaited<ReturnType<typeof newFileChat>>;

/** A web chat that files are uploaded to, as the Worker does it. */
export async function newFileChat(place?: Awaited<ReturnType<typeof newOrganization>>) {
  const { api, channelId, organizationId } = place ?? (await newOrganization());
  const chat = await newChat(api, channelId);
  return { api, channelId, organizationId, chat, ...filesOf(organizationId, chat.id) };
}

/** Uploads to a chat, and what is stored of its files. */
export function filesOf(organizationId: string, chatId: string) {
  const object = () => env.CHATS.getByName(chatId);
  const as = asOwner(organizationId);
  const reserve = (more: Partial<FileRequest> = {}) =>
    object().reserveFile(as, { id: newId("med", null), size: 5, fileName: "a.png", idempotencyHash: null, ...more });
  const reserved = async (more: Partial<FileRequest> = {}) => {
    const answer = await reserve(more);
    if (answer.outcome !== "reserved") throw new Error(JSON.stringify(answer));
    return answer;
  };
  const write = ({ id, life }: { id: string; life: number }) =>
    env.MEDIA.put(fileKey({ chatId, life, mediaId: id }), "bytes");
  const confirm = ({ id, life }: { id: string; life: number }, idempotencyHash: string | null = null) =>
    object().confirmFile(as, { id, life, info: INFO, idempotencyHash });
  return {
    object,
    as,
    reserve,
    reserved,
    write,
    confirm,
    /** A file that a message can name. */
    async upload(more: Partial<FileRequest> = {}): Promise<string> {
      const file = await reserved(more);
      await write(file);
      const { outcome } = await confirm(file, more.idempotencyHash ?? null);
      if (outcome !== "ok") throw new Error(outcome);
      return file.id;
    },
    /** Sends a file, its name as the text. */
    async send(mediaId: string, more: Partial<Draft> = {}): Promise<SendAnswer> {
      const one = { ...draft(mediaId), mediaId, origin: "https://parley.test", ...more };
      const answers = await object().send(as, [one]);
      if (!Array.isArray(answers)) throw new Error(JSON.stringify(answers));
      return answers[0] as SendAnswer;
    },
    /** The ids of the files whose bytes are stored. */
    async bytes(): Promise<string[]> {
      const { objects } = await env.MEDIA.list({ prefix: `${chatId}/` });
      return objects.map(({ key }) => key.split("/")[2] ?? "");
    },
    /** The states of the rows. */
    rows: () =>
      runInDurableObject(object(), (_, { storage }) =>
        storage.sql.exec<{ id: string; state: string }>("select id, meta ->> '$.state' as state from files").toArray(),
      ),
    ring: () => runAlarm(object()),
    /** Lets the chat's alarm ring until it has nothing due. */
    settle: () => ringDue(object()),
    redact: (messageId: string) => admin("POST", `/chats/${chatId}/messages/${messageId}/redact`),
  };
}

/** The message of an answer. */
export function messageOf(answer: SendAnswer) {
  if (answer.outcome !== "stored") throw new Error(JSON.stringify(answer));
  return JSON.parse(answer.doc);
}
