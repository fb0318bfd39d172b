import { beforeEach, vi } from "vitest";
import { type Kind, newNetworkChannel, stopTheClock } from "../../service/delivery/conversation.ts";
import { type Answer, admin, client, created, newChannel, newKey, newOrganization } from "../../support/harness.ts";

/** A path is taken anew for each of its steps: seconds on a slow machine. */
const PATIENCE_MS = 180_000;

/** Nothing rings by itself, and what is logged of all the failures is not shown. */
export function quietly(): void {
  vi.setConfig({ testTimeout: PATIENCE_MS });
  stopTheClock();
  beforeEach(() => {
    for (const level of ["log", "warn", "error"] as const) vi.spyOn(console, level).mockReturnValue();
  });
}

let contacts = 49_160_000_000;
export const newContact = () => String(++contacts);

/** Makes places in one organization: each has a channel, a key and a chat of its own, which no object has met yet. */
export function placesOf(kind: "web" | Kind = "web") {
  const organization = newOrganization();
  return async function place() {
    const { organizationId, ownerId } = await organization;
    const channel = kind === "web" ? null : await newNetworkChannel(organizationId, kind);
    const channelId = channel?.id ?? (await newChannel(organizationId, "web"));
    const address = newContact();
    const path = `/organizations/${organizationId}/chats`;
    const { chat } = created(await admin("POST", path, { channelId, contact: { address } }));
    const { key, secret } = await newKey(organizationId);
    const chatId: string = chat.id;
    return { organizationId, ownerId, channelId, chatId, address, keyId: key.id, secret, api: client(secret), channel };
  };
}

export type Place = Awaited<ReturnType<ReturnType<typeof placesOf>>>;

/** What came of something that is no request, as an answer. */
export function answered(status: number, what = ""): Answer {
  const body = status === 503 ? { message: "Service unavailable", code: "unavailable" } : { what };
  return { status, headers: new Headers({ "Retry-After": "1" }), text: what, body };
}
