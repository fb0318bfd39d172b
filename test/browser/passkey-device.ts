import type { CDPSession, Page } from "playwright-core";
import type { Desk } from "./console.ts";
import { browser } from "./file-browser.ts";
import { base } from "./running-server.ts";

/** The same service by a host name: browsers have no passkeys for IP addresses. */
const here = base.replace("127.0.0.1", "localhost");

/** A browser's page, and the authenticator of its device. */
interface Device {
  page: Page;
  cdp: CDPSession;
  authenticatorId: string;
}

/** A page in a browser of its own, with a device that verifies its person. */
export async function newDevice(): Promise<Device> {
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("WebAuthn.enable");
  const { authenticatorId } = await cdp.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return { page, cdp, authenticatorId };
}

/** A new member; its id. */
export async function newMember({ organization, operator }: Desk, name: string): Promise<string> {
  const { member } = await operator("POST", `/organizations/${organization.id}/members`, { name });
  return member.id;
}

/** Opens the settings as a member whom a new link signs in. */
export async function openSettings(desk: Desk, page: Page, memberId: string): Promise<void> {
  const { url } = await desk.operator("POST", `/members/${memberId}/sign-in-link`);
  await page.goto(url.replace(base, here));
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByTitle("Your account").click();
  await page.getByRole("menuitem", { name: "Your passkeys" }).click();
  await page.getByRole("heading", { name: "Your passkeys" }).waitFor();
}

export async function addPasskey(page: Page, name: string): Promise<void> {
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByLabel("Name", { exact: true }).fill(name);
  await page.getByRole("button", { name: "Continue" }).click();
}

export async function signOut(page: Page): Promise<void> {
  await page.getByTitle("Your account").click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await page.getByRole("button", { name: "Sign in with a passkey" }).waitFor();
}
