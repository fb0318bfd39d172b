import { beforeEach, expect, test } from "vitest";
import type { FollowedEvent } from "../../src/client/event.ts";
import { type ApiRequest, createApi } from "../../src/web/console/api-client.ts";
import { type Note, NotesStore } from "../../src/web/console/notes/notes-store.ts";
import { type Session, sessionState } from "../../src/web/console/session.ts";

beforeEach(() => {
  const session = { permissions: ["notes:read", "notes:write"] } as Session;
  sessionState.value = { state: "in", session, isLost: false };
});

/** The store of a chat whose service has these notes. A list that is asked for is answered when the test says so. */
function place(...ids: string[]) {
  const has = ids.map((id) => ({ id }) as Note);
  const lists: (() => void)[] = [];
  const answerTo = async ({ method }: ApiRequest) => {
    if (method === "POST") has.unshift({ id: "new" } as Note);
    if (method === "POST") return { note: has[0] };
    const answer = { notes: [...has], pagination: { limit: 100, hasMore: false, cursor: null } };
    return new Promise((resolve) => lists.push(() => resolve(answer)));
  };
  const store = new NotesStore(createApi(answerTo), "cht_1", () => 0);
  return {
    store,
    shown: () => store.notes.value.map(({ id }) => id),
    /** A list is on its way: the service has read it, and nothing later is in it. */
    asked: () => expect.poll(() => lists.length).toBe(1),
    answer: () => lists.shift()?.(),
    deleted: (id: string) => {
      has.splice(ids.indexOf(id), 1);
      store.take({ chatId: "cht_1", type: "note.deleted", data: { note: { id } } } as FollowedEvent);
    },
  };
}

test("a note that is deleted while a list with it is on its way does not come back", async () => {
  const { store, shown, asked, answer, deleted } = place("b", "a");
  const loaded = store.load();
  await asked();
  deleted("b");
  answer();
  await asked();
  answer();
  await loaded;
  expect(shown()).toEqual(["a"]);
});

test("a note that is added while a list without it is on its way stays", async () => {
  const { store, shown, asked, answer } = place("a");
  const loaded = store.load();
  await asked();
  await store.add("Hi", [], "key");
  expect(shown()).toEqual(["new"]);
  answer();
  await asked();
  answer();
  await loaded;
  expect(shown()).toEqual(["new", "a"]);
});
