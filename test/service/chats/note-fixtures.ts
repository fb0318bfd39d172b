import type { Note } from "../../../src/model/note.ts";
import {
  type Answer,
  admin,
  type Client,
  client,
  created,
  newChat,
  newKey,
  newOrganization,
} from "../../support/harness.ts";

/** The text of a note that is as long as it may be. */
export const LONGEST = "x".repeat(4_096);

/** A client that reads and writes notes, by a key of its own. */
export async function writer(organizationId: string, permissions: string[] = []) {
  const given = { permissions: ["notes:read", "notes:write", ...permissions] };
  const { secret, key } = await newKey(organizationId, given);
  return { api: client(secret), keyId: key.id, secret };
}

/** A chat whose notes a test reads and writes, with members who may read notes or not. */
export async function place() {
  const organization = await newOrganization();
  const { api, organizationId, channelId } = organization;
  const chat = await newChat(api, channelId);
  const { api: writes, keyId } = await writer(organizationId, ["events:read", "data:export"]);
  const member = async (name: string, permissions: string[]): Promise<string> =>
    created(await admin("POST", `/organizations/${organizationId}/members`, { name, permissions })).member.id;
  return {
    ...organization,
    ...{ chat, writes, keyId },
    ann: await member("Ann", ["notes:read", "chats:write"]),
    bob: await member("Bob", ["chats:read"]),
    add: (body: object, headers = {}) => writes("POST", `/chats/${chat.id}/notes`, body, headers),
    list: async (query = ""): Promise<Note[]> => (await writes("GET", `/chats/${chat.id}/notes${query}`)).body.notes,
    remove: (id: string, by: Client = writes) => by("DELETE", `/chats/${chat.id}/notes/${id}`),
    events: async () =>
      (await writes("GET", `/chats/${chat.id}/events`)).body.events
        .filter(({ type }: { type: string }) => type.startsWith("note."))
        .map(({ type, data }: { type: string; data: object }) => [type, data]),
  };
}

/** The note that was created. */
export const noteOf = (answer: Answer): Note => created(answer).note;
