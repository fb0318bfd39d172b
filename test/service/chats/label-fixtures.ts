import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect } from "vitest";
import type { Chat } from "../../../src/model/chat.ts";
import { newId } from "../../../src/model/id.ts";
import { type Answer, admin, created } from "../../support/harness.ts";
import { statePlace } from "./state-fixtures.ts";

/** The labels of an organization, as a test makes and looks at them. */
export function labelsOf(organizationId: string) {
  const at = `/organizations/${organizationId}/labels`;
  const object = () => env.ORGANIZATIONS.getByName(organizationId);
  const rows = <Row extends Record<string, SqlStorageValue>>(query: string): Promise<Row[]> =>
    runInDurableObject(object(), (_object, { storage }) => storage.sql.exec<Row>(query).toArray());
  return {
    organization: object,
    rows,
    make: async (name: string): Promise<string> => created(await admin("POST", at, { name })).label.id,
    rename: (id: string, name: string) => admin("PATCH", `${at}/${id}`, { name }),
    remove: (id: string) => admin("DELETE", `${at}/${id}`),
    /** How many chats have each label, by its name. */
    counts: async (): Promise<Record<string, number>> => {
      const { labels } = (await admin("GET", at)).body;
      return Object.fromEntries(labels.map(({ name, chats }: { name: string; chats: number }) => [name, chats]));
    },
    /** Makes many labels at once; their ids. */
    makeMany: (count: number): Promise<string[]> =>
      runInDurableObject(object(), (each) =>
        Array.from({ length: count }, (_, nth) => {
          const id = newId("lbl", null);
          each.addLabel({ id, name: `label ${nth}`, color: null });
          return id;
        }),
      ),
    /** The pairs of labels and chats that are stored. */
    pairs: () => rows<{ label_id: string; chat_id: string }>("select label_id, chat_id from chat_labels"),
  };
}

/** A chat that a test labels. */
export async function labelPlace() {
  const place = await statePlace();
  const { api, chatId, organizationId } = place;
  const path = (id: string) => `/chats/${chatId}/labels/${id}`;
  const chatOf = (answer: Answer): Chat => {
    expect(answer.status, answer.text).toBe(200);
    return answer.body.chat;
  };
  return {
    ...place,
    ...labelsOf(organizationId),
    put: (id: string) => api("PUT", path(id)),
    drop: (id: string) => api("DELETE", path(id)),
    give: async (id: string): Promise<Chat> => chatOf(await api("PUT", path(id))),
    take: async (id: string): Promise<Chat> => chatOf(await api("DELETE", path(id))),
    /** The names of the labels that the chat has in its own answer, and in the list. */
    names: async (): Promise<string[][]> =>
      [await place.shown(), await place.listed()].map(({ labels }) => labels.map(({ name }) => name)),
    /** The events of a changed chat; each shows the chat as it is now. */
    updates: async () => (await place.events()).filter(({ type }) => type === "chat.updated"),
  };
}
