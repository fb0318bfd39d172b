import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect } from "vitest";
import type { Chat } from "../../../src/model/chat.ts";
import type { Permission } from "../../../src/model/permission.ts";
import { runAlarm } from "../../support/alarms.ts";
import { admin, client, created, newChat, newKey, newOrganization } from "../../support/harness.ts";
import { writeAsContact } from "./inbound.ts";

export const TAKES: readonly Permission[] = ["chats:write", "messages:send"];

export async function team() {
  const organization = await newOrganization();
  const { api, organizationId, channelId } = organization;
  const { secret, key } = await newKey(organizationId, { permissions: ["events:read"] });
  const member = async (name: string): Promise<string> =>
    created(await admin("POST", `/organizations/${organizationId}/members`, { name })).member.id;
  const idsOf = async (query: string) => {
    const answer = await api("GET", `/chats?${query}`);
    expect(answer.status, answer.text).toBe(200);
    return answer.body.chats.map(({ id }: Chat) => id);
  };
  const object = env.ORGANIZATIONS.getByName(organizationId);
  return {
    ...organization,
    key,
    object,
    ring: () => runAlarm(object),
    rows: (query: string) => runInDurableObject(object, (_object, { storage }) => storage.sql.exec(query).toArray()),
    ann: await member("Ann"),
    ben: await member("Ben"),
    newChat: () => newChat(api, channelId),
    assign: (id: string, assigneeId: string | null, more: object = {}) =>
      api("PATCH", `/chats/${id}`, { assigneeId, ...more }),
    assigneeOf: async (id: string) => (await api("GET", `/chats/${id}`)).body.chat.assigneeId,
    idsOf,
    write: (id: string) => writeAsContact(organizationId, id),
    assignments: async (
      id: string,
    ): Promise<{ assigneeId: string | null; by: { type: string } | null; chat: Chat }[]> =>
      (await client(secret)("GET", `/chats/${id}/events`)).body.events
        .filter(({ type }: { type: string }) => type === "chat.assigned")
        .map(({ data }: { data: object }) => data),
  };
}
