import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { openDesk, screenOf } from "./console.ts";
import { takeOver } from "./disturb.ts";
import { addPasskey, type Device, newDevice, newMember, openSettings, signOut } from "./passkey-device.ts";

/** What a page sends to sign in with a passkey. */
interface SignIn {
  passkey: { id: string; response: { userHandle: string } };
}

const desk = await openDesk();

/** A device with a passkey of a member. */
async function newDeviceOf(memberId: string): Promise<Device> {
  const device = await newDevice();
  await openSettings(desk, device.page, memberId);
  await addPasskey(device.page, "Laptop");
  await device.page.getByText("Added. You can sign in with it now.").waitFor();
  return device;
}

const start = (page: Page) => page.getByRole("button", { name: "Sign in with a passkey" }).click();

/** Signs in with the device's passkey; what the page sent. */
async function signIn(page: Page): Promise<SignIn> {
  const [sent] = await Promise.all([page.waitForRequest(isSignIn), start(page)]);
  await page.getByTitle("Your account").waitFor();
  return sent.postDataJSON();
}

const isSignIn = (request: { method(): string; url(): string }) =>
  request.method() === "POST" && request.url().endsWith("/console/session");

/** Tries to sign in with the device's passkey, which is refused. @returns the page's words */
async function refusalOf(page: Page): Promise<string> {
  await start(page);
  return (await page.getByText("The passkey was refused").textContent()) ?? "";
}

async function theCredential({ cdp, authenticatorId }: Device) {
  const { credentials } = await cdp.send("WebAuthn.getCredentials", { authenticatorId });
  const [credential, ...others] = credentials;
  if (!credential || others.length > 0) throw new Error(`the device has ${credentials.length} passkeys`);
  return credential;
}

/** Makes the device count its signatures from a number on, as a copy that was made then does. */
async function countFrom(device: Device, signCount: number): Promise<void> {
  const { cdp, authenticatorId } = device;
  const credential = await theCredential(device);
  await cdp.send("WebAuthn.removeCredential", { authenticatorId, credentialId: credential.credentialId });
  await cdp.send("WebAuthn.addCredential", { authenticatorId, credential: { ...credential, signCount } });
}

test("an answer that was caught signs nobody in a second time", async () => {
  const { page } = await newDeviceOf(await newMember(desk, "Cat Caught"));
  await signOut(page);
  const caught = await signIn(page);
  const { page: thief } = await newDevice();
  await thief.goto(new URL("/console", page.url()).href);
  await thief.getByRole("button", { name: "Sign in with a passkey" }).waitFor();
  const answer = await thief.evaluate(async (body) => {
    const headers = { "Content-Type": "application/json", "Parley-Console": "1" };
    const response = await fetch("/console/session", { method: "POST", headers, body: JSON.stringify(body) });
    return { status: response.status, body: await response.json() };
  }, caught);
  expect(answer).toMatchObject({ status: 401, body: { code: "passkey_refused" } });
  await thief.reload();
  await thief.getByRole("button", { name: "Sign in with a passkey" }).waitFor();
  // The member's own session stays, and its passkey too.
  await signOut(page);
  await signIn(page);
  for (const each of [page, thief]) await each.context().close();
});

/** A page at another port of the same host name, for which browsers have the same passkeys. */
const ELSEWHERE = "http://localhost:8816/";
/** The headers that a browser sends for a page of the console. */
const OWN_PAGE = { "Sec-Fetch-Site": "same-origin" };

test("what a page at another port got from the device counts neither to sign in nor as a new passkey", async () => {
  const { page } = await newDeviceOf(await newMember(desk, "Fay Foreign"));
  const here = new URL(page.url()).origin;
  const optionsOf = async (path: string) => {
    const answer = await page.request.get(`${here}${path}`, { headers: OWN_PAGE });
    return (await answer.json()).publicKey;
  };
  // What the other page sends, its own server can send as if the console's page did.
  const relay = async (path: string, data: object) => {
    const answer = await page.request.post(`${here}${path}`, { headers: OWN_PAGE, data });
    return { status: answer.status(), text: await answer.text() };
  };
  const [toSignIn, forNew] = [await optionsOf("/console/passkey"), await optionsOf("/console/api/passkeys/options")];
  await page.route(`${ELSEWHERE}**`, (route) => route.fulfill({ contentType: "text/html", body: "<!doctype html>" }));
  await page.goto(ELSEWHERE);
  const [signedIn, made] = await page.evaluate(
    async ([request, creation]) => {
      const get = PublicKeyCredential.parseRequestOptionsFromJSON(request);
      const create = PublicKeyCredential.parseCreationOptionsFromJSON({ ...creation, excludeCredentials: [] });
      const all = [
        await navigator.credentials.get({ publicKey: get }),
        await navigator.credentials.create({ publicKey: create }),
      ];
      return all.map((each) => (each as PublicKeyCredential).toJSON());
    },
    [toSignIn, forNew],
  );
  const refused = { status: 401, text: expect.stringContaining("it comes from another site") };
  expect(await relay("/console/session", { passkey: signedIn })).toEqual(refused);
  const added = await relay("/console/api/passkeys", { name: "Theirs", credential: made });
  expect(added).toEqual({ ...refused, status: 400 });
  await page.context().close();
});

test("a challenge that was used signs nobody in with a new signature", async () => {
  const { page } = await newDeviceOf(await newMember(desk, "Rae Repeated"));
  await signOut(page);
  const [asked] = await Promise.all([page.waitForResponse(isChallengeUrl), signIn(page)]);
  const used = await asked.json();
  const giveBack = await takeOver(page, isChallengeUrl, (route) => route.fulfill({ json: used }));
  await signOut(page);
  expect(await refusalOf(page)).toContain("its challenge was used or has expired");
  giveBack();
  await page.reload();
  await signIn(page);
  await page.context().close();
});

const isChallengeUrl = /\/console\/passkey$/;

test("a passkey whose counter fell is refused, and one that goes on counting is not", async () => {
  const device = await newDeviceOf(await newMember(desk, "Cole Copied"));
  const { page } = device;
  for (let n = 0; n < 3; n++) {
    await signOut(page);
    await signIn(page);
  }
  const { signCount } = await theCredential(device);
  expect(signCount).toBeGreaterThan(3);
  await signOut(page);
  await countFrom(device, 1);
  expect(await refusalOf(page)).toContain("its counter fell, so it may be a copy");
  await countFrom(device, signCount);
  await signIn(page);
  await page.context().close();
});

test("an answer for another member's passkey is refused, under whosever name it is given", async () => {
  const [mine, theirs] = [await newMember(desk, "Imo Impostor"), await newMember(desk, "Vic Victim")];
  const [{ page }, victim] = [await newDeviceOf(mine), await newDeviceOf(theirs)];
  const inUrl = (base64: string) => Buffer.from(base64, "base64").toString("base64url");
  const { credentialId, userHandle = "" } = await theCredential(victim);
  await signOut(page);
  const id = inUrl(credentialId);
  for (const theirHandle of [{}, { userHandle: inUrl(userHandle) }]) {
    const giveBack = await takeOver(page, isSignInUrl, async (route) => {
      if (route.request().method() !== "POST") return route.fallback();
      const { passkey } = route.request().postDataJSON() as SignIn;
      expect(passkey.id).not.toBe(id);
      const response = { ...passkey.response, ...theirHandle };
      await route.continue({ postData: JSON.stringify({ passkey: { id, response } }) });
    });
    expect(await refusalOf(page)).toMatch(/^The passkey was refused/);
    giveBack();
  }
  await page.reload();
  await signIn(page);
  await page.getByTitle("Your account").getByText("Imo Impostor").waitFor();
  for (const each of [page, victim.page]) await each.context().close();
});

const isSignInUrl = /\/console\/session$/;

test("who signs out everywhere keeps the passkey of this session alone, and the other devices no longer sign in", async () => {
  const memberId = await newMember(desk, "Max Manager", { permissions: "manager" });
  const [{ page }, { page: other }] = [await newDeviceOf(memberId), await newDeviceOf(memberId)];
  await signOut(page);
  await signIn(page);
  await page.goto(new URL(screenOf(desk, "members"), page.url()).href);
  await page.getByRole("button", { name: "More for Max Manager" }).click();
  await page.getByRole("menuitem", { name: "Sign out everywhere" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("button", { name: "Sign in with a passkey" }).first().waitFor();
  await page.goto(new URL("/console", page.url()).href);
  await signIn(page);
  await other.goto(new URL("/console", page.url()).href);
  expect(await refusalOf(other)).toContain("it is unknown here, or was deleted");
  for (const each of [page, other]) await each.context().close();
});

test("after a gained permission no passkey from before signs in, and a new one does", async () => {
  const memberId = await newMember(desk, "Gia Gained", { permissions: ["chats:read"] });
  const { page } = await newDeviceOf(memberId);
  await signOut(page);
  await desk.operator("PATCH", `/members/${memberId}`, { permissions: ["chats:read", "messages:read"] });
  expect(await refusalOf(page)).toContain("it is unknown here, or was deleted");
  const { page: fresh } = await newDeviceOf(memberId);
  await signOut(fresh);
  await signIn(fresh);
  for (const each of [page, fresh]) await each.context().close();
});
