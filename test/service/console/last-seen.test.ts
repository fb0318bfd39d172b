import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { browser, cookieOf, signInMember } from "../../support/console.ts";
import { admin, newOrganization } from "../../support/harness.ts";
import { added, tryPasskey } from "./passkeys/fixtures.ts";

const HOUR_MS = 3_600_000;

/** When the directory says that the only member of an organization was last seen. */
async function lastSeen(organizationId: string): Promise<string | null> {
  const { members } = (await admin("GET", `/organizations/${organizationId}/members`)).body;
  return members[0].lastSeenAt;
}

/** The clock moves on. */
function later(ms: number): string {
  const now = Date.now() + ms;
  vi.useFakeTimers({ toFake: ["Date"], now });
  return new Date(now).toISOString();
}

test("a member was last seen when it signed in, with a link or a passkey", async () => {
  const { organizationId, ownerId } = await newOrganization();
  expect(await lastSeen(organizationId)).toBeNull();
  const at = later(0);
  const ask = browser(await signInMember(ownerId));
  expect(await lastSeen(organizationId)).toBe(at);
  const { authenticator } = await added(ask);
  const then = later(5_000);
  await tryPasskey(authenticator);
  expect(await lastSeen(organizationId)).toBe(then);
});

test("a page that stays open is noted once an hour, and other requests never", async () => {
  const { organizationId, ownerId } = await newOrganization();
  const at = later(0);
  const cookie = await signInMember(ownerId);
  later(HOUR_MS - 1_000);
  const ask = browser(cookie);
  await ask("GET", "/session");
  await ask("GET", `/organizations/${organizationId}/chats`);
  expect(await lastSeen(organizationId)).toBe(at);
  const then = later(1_000);
  const kept = await ask("GET", "/session");
  expect(await lastSeen(organizationId)).toBe(then);
  later(HOUR_MS - 1_000);
  await browser(cookieOf(kept))("GET", "/session");
  expect(await lastSeen(organizationId)).toBe(then);
});

test("a member signs in also if it can't be stored that it was seen", async () => {
  const { organizationId, ownerId } = await newOrganization();
  const warned = vi.spyOn(console, "warn").mockReturnValue();
  const trigger = "create trigger no_seen before update of last_seen_at on members";
  const isSeen = "when new.last_seen_at is not null";
  await env.DB.prepare(`${trigger} ${isSeen} begin select raise(abort, 'full'); end`).run();
  const cookie = await signInMember(ownerId);
  await env.DB.prepare("drop trigger no_seen").run();
  expect((await browser(cookie)("GET", "/session")).status).toBe(200);
  expect(await lastSeen(organizationId)).toBeNull();
  expect(warned).toHaveBeenCalledWith(expect.objectContaining({ event: "last_seen_not_stored", memberId: ownerId }));
});
