import { expect, test, vi } from "vitest";
import { watchSteps } from "../../support/faults.ts";
import { expectError } from "../../support/harness.ts";
import { type Everything, everything } from "./audit-acts.ts";
import { endedEntries } from "./ended-entries.ts";

const messages = { action: "message.search", pathOf: (ids: Everything) => `/chats/${ids.chatId}/messages` } as const;
const chats = { action: "chat.search", pathOf: () => "/chats" } as const;

test.each([
  { ...messages, read: "CHATS.listMatching", query: "search=canary" },
  { ...messages, read: "CHATS.listMatching", query: "%73earch=canary" },
  { ...chats, read: "ORGANIZATIONS.list", query: "search=canary" },
  { ...chats, read: "ORGANIZATIONS.list", query: "%73earch=canary" },
] as const)(
  "$action with $query reads nothing if its entry can't be stored, although the key read the list before",
  async ({ action, pathOf, read, query }) => {
    const ids = await everything();
    // A list that a key has read is read the next time while the key is checked.
    expect((await ids.api("GET", pathOf(ids))).status).toBe(200);
    const steps = watchSteps({ beginAct: () => () => Promise.reject(new Error("internal error")) });
    expectError(await ids.api("GET", `${pathOf(ids)}?${query}`), 503, "unavailable");
    expect(steps).not.toContain(read);
    vi.restoreAllMocks();
    const later = watchSteps();
    expect((await ids.api("GET", `${pathOf(ids)}?${query}`)).status).toBe(200);
    expect(later).toContain(read);
    expect(await endedEntries(ids.organizationId, `&action=${action}`)).toEqual([
      expect.objectContaining({ status: 200 }),
    ]);
  },
);
