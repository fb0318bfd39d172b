import { env } from "cloudflare:workers";
import { beforeEach, vi } from "vitest";
import { type Kind, newNetworkChannel, stopTheClock } from "../../service/chats/object/delivery/conversation.ts";
import { type Answer, admin, client, created, newChannel, newKey, newOrganization } from "../../support/harness.ts";

/** A path runs again for each of its steps, which takes seconds on a slow machine. */
const PATIENCE_MS = 180_000;

/** No alarm runs on its own, and the log of the injected failures is hidden. */
export function quietly(): void {
  vi.setConfig({ testTimeout: PATIENCE_MS });
  stopTheClock();
  beforeEach(() => {
    for (const level of ["log", "warn", "error"] as const) vi.spyOn(console, level).mockReturnValue();
  });
}

let contacts = 49_160_000_000;
export const newContact = () => String(++contacts);

/** Creates chats in one organization, each with its own channel and key, which no object knows yet. */
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
    // The object would read this later, in the midst of the steps.
    await env.ORGANIZATIONS.getByName(organizationId).refresh();
    return { organizationId, ownerId, channelId, chatId, address, keyId: key.id, secret, api: client(secret), channel };
  };
}

export type Place = Awaited<ReturnType<ReturnType<typeof placesOf>>>;

/** The result of something that is not a request, in the form of a response. */
export function answered(status: number, what = ""): Answer {
  const body = status === 503 ? { message: "Service unavailable", code: "unavailable" } : { what };
  return { status, headers: new Headers({ "Retry-After": "1" }), text: what, body };
}
