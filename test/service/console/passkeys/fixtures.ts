import { expect } from "vitest";
import { Authenticator, type Otherwise } from "../../../support/authenticator.ts";
import { browser, cookieOf, OWN_PAGE, signInMember } from "../../../support/console.ts";
import { type Answer, admin, type Call, call, created, newOrganization } from "../../../support/harness.ts";

export type Ask = ReturnType<typeof browser>;

/** A member of a new organization who has just signed in with a link. */
export async function newPerson() {
  const organization = await newOrganization();
  return { ...organization, ask: browser(await signInMember(organization.ownerId)) };
}

/** Another member of an organization. */
export async function newColleague(organizationId: string, body: object = {}): Promise<string> {
  return created(await admin("POST", `/organizations/${organizationId}/members`, { name: "Bea", ...body })).member.id;
}

/** Asks for a new passkey, and sends what an authenticator makes. */
export async function add(
  ask: Ask,
  authenticator: Authenticator,
  { name = "Laptop", ...otherwise }: Otherwise & { name?: string } = {},
): Promise<Answer> {
  const { publicKey } = await optionsFor(ask);
  return ask("POST", "/passkeys", { name, credential: await authenticator.create(publicKey, otherwise) });
}

export async function optionsFor(ask: Ask) {
  const answer = await ask("GET", "/passkeys/options");
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

/** A new authenticator that a member has added. */
export async function added(ask: Ask, name = "Laptop"): Promise<{ authenticator: Authenticator; id: string }> {
  const authenticator = await Authenticator.make();
  return { authenticator, id: created(await add(ask, authenticator, { name })).passkey.id };
}

/** What a page of the console is told to sign somebody in. */
export async function signInOptions(options: Call = {}) {
  const answer = await call("GET", "/console/passkey", { headers: OWN_PAGE, ...options });
  expect(answer.status, answer.text).toBe(200);
  return answer.body.publicKey;
}

/** Tries to sign in with an authenticator. */
export async function tryPasskey(authenticator: Authenticator, otherwise: Otherwise = {}): Promise<Answer> {
  return send(await authenticator.get(await signInOptions(), otherwise));
}

/** Sends an answer to a challenge. */
export function send(passkey: object, options: Call = {}): Promise<Answer> {
  return call("POST", "/console/session", { body: { passkey }, headers: OWN_PAGE, ...options });
}

/** Signs in with an authenticator, in a new browser. */
export async function withPasskey(authenticator: Authenticator): Promise<Ask> {
  const answer = await tryPasskey(authenticator);
  expect(answer.status, answer.text).toBe(204);
  return browser(cookieOf(answer));
}

/** Whether each authenticator still signs somebody in. */
export async function whichSignIn(...authenticators: Authenticator[]): Promise<boolean[]> {
  const all: boolean[] = [];
  for (const one of authenticators) all.push((await tryPasskey(one)).status === 204);
  return all;
}

/** How many passkeys a member has, as the operator's list of members says. */
export async function countOf(organizationId: string, memberId: string): Promise<number> {
  const { members } = (await admin("GET", `/organizations/${organizationId}/members`)).body;
  return members.find(({ id }: { id: string }) => id === memberId).passkeys;
}
