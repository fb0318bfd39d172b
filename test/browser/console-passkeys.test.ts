import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { openAsMember, openDesk, screenOf } from "./console.ts";
import { intercept, stopTimers } from "./disturb.ts";
import { browser } from "./file-browser.ts";
import { addPasskey, newDevice, newMember, openSettings, signOut } from "./passkey-device.ts";
import { base } from "./running-server.ts";
import { violations } from "./violations.ts";

const desk = await openDesk();

/** A script: the page's shell says that people can sign in with Cloudflare Access. */
const withAccess = `document.addEventListener("readystatechange", () =>
  document.getElementById("console").setAttribute("data-access", ""))`;

/** Changes what the page is told of the member's passkeys, once it is loaded again. @param change a function, as text */
async function changeList(page: Page, change: string): Promise<void> {
  await page.addInitScript(`
    const plainFetch = fetch;
    globalThis.fetch = async (...given) => {
      const response = await plainFetch(...given);
      if (!response.url.endsWith("/console/api/passkeys")) return response;
      return Response.json((${change})(await response.json()));
    };
  `);
}

const row = (page: Page, name: string) => page.getByRole("listitem").filter({ hasText: name });

test("an opened link offers its own sign-in first", async () => {
  const { page } = await newDevice();
  const { url } = await desk.operator("POST", `/members/${await newMember(desk, "Lin Link")}/sign-in-link`);
  await page.goto(url.replace("127.0.0.1", "localhost"));
  await page.getByText("Sign in as Lin Link").waitFor();
  await expect.poll(() => page.getByRole("button").allTextContents()).toEqual(["Sign in", "Sign in with a passkey"]);
  await page.context().close();
});

test("a member adds a passkey, signs in with it alone, renames and deletes it", async () => {
  const memberId = await newMember(desk, "Pia Pass");
  const { page, cdp, authenticatorId } = await newDevice();
  await openSettings(desk, page, memberId);
  expect(await violations(page)).toEqual([]);
  await addPasskey(page, "Work laptop");
  await page.getByText("Added. You can sign in with it now.").waitFor();
  await row(page, "Work laptop").getByText("Not used yet").waitFor();
  const { credentials } = await cdp.send("WebAuthn.getCredentials", { authenticatorId });
  expect(credentials).toMatchObject([{ isResidentCredential: true, rpId: "localhost" }]);
  expect(Buffer.from(credentials[0]?.userHandle ?? "", "base64").toString()).toBe(memberId);
  await signOut(page);
  expect(await violations(page)).toEqual([]);
  await page.getByRole("button", { name: "Sign in with a passkey" }).click();
  await page.getByTitle("Your account").getByText("Pia Pass").waitFor();
  await page.getByTitle("Your account").click();
  await page.getByRole("menuitem", { name: "Your passkeys" }).click();
  await row(page, "Work laptop").getByText("Last used just now").waitFor();
  expect(await violations(page)).toEqual([]);
  await page.getByRole("button", { name: "Rename Work laptop" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Old laptop");
  await page.getByRole("button", { name: "Save" }).click();
  await row(page, "Old laptop").waitFor();
  await page.getByRole("button", { name: "Delete Old laptop" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByText("Deleted", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Delete Old laptop" }).waitFor({ state: "detached" });
  await signOut(page);
  await page.getByRole("button", { name: "Sign in with a passkey" }).click();
  await page.getByText("The passkey was refused: it is unknown here, or was deleted. Use a sign-in link").waitFor();
  await page.context().close();
});

test("a device has one passkey of a member, and who is not verified adds none and does not sign in", async () => {
  const memberId = await newMember(desk, "Vera Verified");
  const { page, cdp, authenticatorId } = await newDevice();
  await openSettings(desk, page, memberId);
  await addPasskey(page, "Laptop");
  await page.getByText("Added. You can sign in with it now.").waitFor();
  await addPasskey(page, "Laptop again");
  await page.getByText("This device already has a passkey of yours.").waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  await signOut(page);
  await cdp.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: false });
  await page.getByRole("button", { name: "Sign in with a passkey" }).click();
  await page.getByText("No passkey was chosen. If you have none for localhost, sign in with a link.").waitFor();
  await cdp.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: true });
  await page.getByRole("button", { name: "Sign in with a passkey" }).click();
  await page.getByTitle("Your account").waitFor();
  await page.context().close();
});

test("ten minutes after the sign-in, a page offers to sign in again, and a passkey does", async () => {
  const memberId = await newMember(desk, "Lena Late");
  const { page } = await newDevice();
  await openSettings(desk, page, memberId);
  await addPasskey(page, "Laptop");
  await page.getByText("Added. You can sign in with it now.").waitFor();
  await changeList(page, "(body) => (globalThis.isFresh ? body : { ...body, changeableUntil: new Date(0) })");
  await page.addInitScript(withAccess);
  await page.reload();
  await page.getByText("To change them, sign in again").waitFor();
  await page.getByRole("link", { name: "sign out of it" }).waitFor();
  await expect.poll(() => page.getByRole("button", { name: "Add a passkey" }).count()).toBe(0);
  expect(await violations(page)).toEqual([]);
  await page.evaluate("globalThis.isFresh = true");
  await page.getByRole("button", { name: "Sign in with a passkey" }).click();
  await page.getByRole("button", { name: "Add a passkey" }).waitFor();
  await page.context().close();
});

test("whose session has ended goes on with a passkey, where it was", async () => {
  const memberId = await newMember(desk, "Ron Return");
  const { page } = await newDevice();
  // Of all that the page asks for, the person's change must be the first to find that the session has ended.
  for (const length of [1_500, 12_000]) await stopTimers(page, length);
  await openSettings(desk, page, memberId);
  await addPasskey(page, "Laptop");
  await page.getByRole("button", { name: "Rename Laptop" }).waitFor();
  await page.context().clearCookies();
  await page.getByRole("button", { name: "Rename Laptop" }).click();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("heading", { name: "Sign in again" }).waitFor();
  await page
    .getByRole("dialog", { name: "Sign in again" })
    .getByRole("button", { name: "Sign in with a passkey" })
    .click();
  await page.getByRole("heading", { name: "Sign in again" }).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved", { exact: true }).waitFor();
  await page.context().close();
});

test("at an IP address the console says that the link is the way, and offers no passkeys", async () => {
  const page = await openAsMember(browser, desk, [], screenOf(desk, "settings"));
  await page.getByText("Passkeys work for host names, and this console was opened at an IP address.").waitFor();
  await expect.poll(() => page.getByRole("button", { name: "Add a passkey" }).count()).toBe(0);
  await page.context().clearCookies();
  await page.goto(`${base}/console`);
  await page.getByText("Sign in as the operator").waitFor();
  await expect.poll(() => page.getByRole("button", { name: "Sign in with a passkey" }).count()).toBe(0);
  await page.context().close();
});

test("the console says where a passkey of an earlier host works", async () => {
  const memberId = await newMember(desk, "Mo Moved");
  const { page } = await newDevice();
  await openSettings(desk, page, memberId);
  await addPasskey(page, "Laptop");
  await page.getByText("Added. You can sign in with it now.").waitFor();
  const elsewhere = "(one) => ({ ...one, host: 'old.example' })";
  await changeList(page, `(body) => ({ ...body, passkeys: body.passkeys.map(${elsewhere}) })`);
  await page.reload();
  await row(page, "Laptop").getByText("Only at old.example").waitFor();
  await page.context().close();
});

test("the operator has no passkeys in the settings, and sees how many a member has", async () => {
  const memberId = await newMember(desk, "Otto Other");
  const { page } = await newDevice();
  await openSettings(desk, page, memberId);
  await addPasskey(page, "Laptop");
  await page.getByText("Added. You can sign in with it now.").waitFor();
  const { organization, operator } = desk;
  const { members } = await operator("GET", `/organizations/${organization.id}/members?limit=100`);
  expect(members.find(({ id }: { id: string }) => id === memberId).passkeys).toBe(1);
  await page.context().close();
});

/** A page at another port of the same host name, for which browsers have the same passkeys. */
const ELSEWHERE = "http://localhost:8816/";
/** The headers that a browser sends for a page of the console. */
const OWN_PAGE = { "Sec-Fetch-Site": "same-origin" };

test("what a page at another port got from the device counts neither to sign in nor as a new passkey", async () => {
  const { page } = await newDevice();
  await openSettings(desk, page, await newMember(desk, "Fay Foreign"));
  await addPasskey(page, "Laptop");
  await page.getByText("Added. You can sign in with it now.").waitFor();
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
  await intercept(page, `${ELSEWHERE}**`, (route) =>
    route.fulfill({ contentType: "text/html", body: "<!doctype html>" }),
  );
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
