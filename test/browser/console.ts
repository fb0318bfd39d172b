import type { Browser, BrowserContextOptions, Locator, Page } from "playwright-core";
import { PERMISSIONS } from "../../src/model/permission.ts";
import type { Proof } from "../../src/web/console/session.ts";
import {
  type Channel,
  createChannel,
  createChat,
  createKey,
  createOrganization,
  type Organization,
} from "../support/world/factories.ts";
import { hashOf } from "../support/world/identity.ts";
import { caller, worldAt } from "../support/world/world.ts";
import { adminToken, base } from "./running-server.ts";
import { violations } from "./violations.ts";

/** What a member who answers chats may do. */
export const AGENT = [
  "chats:read",
  "chats:write",
  "messages:read",
  "messages:send",
  "notes:read",
  "notes:write",
  "events:read",
  "members:read",
  "channels:read",
];

/** An organization with a web channel, as its own people and its visitors see it. */
export interface Desk {
  organization: Organization;
  channel: Channel;
  /** The address of the service. */
  base: string;
  /** Calls the public API with a key of the organization that may do everything. */
  api: ReturnType<typeof caller>;
  /** Calls the operator's API. */
  operator: ReturnType<typeof caller>;
  /** A chat with a contact of this name. */
  chat(name: string): Promise<{ id: string; address: string }>;
  /** A contact writes. Resolves once the service has stored it. */
  writes(address: string, text: string): Promise<void>;
  /** A contact's page tells that its visitor writes. */
  types(address: string): Promise<void>;
  /** A contact's page sends a frame. Resolves once the service has stored what it says. */
  does(address: string, frame: Record<string, unknown>): Promise<void>;
}

/**
 * @param settings of the organization, such as `search`
 * @param service by default, the one that all browser tests share
 */
export async function openDesk(name = "Acme", settings: object = {}, service = { base, adminToken }): Promise<Desk> {
  const world = worldAt(service.base, service.adminToken);
  const organization = await createOrganization(world, { name, owner: { name: "Ann" }, ...settings });
  const channel = await createChannel(organization, { name: "Site" });
  const { secret } = await createKey(organization, { permissions: PERMISSIONS });
  let visitors = 0;
  return {
    organization,
    channel,
    base: service.base,
    api: caller(world, "/api/v1", secret),
    operator: caller(world, "/admin/v1", service.adminToken),
    async chat(contactName) {
      const address = `visitor-${++visitors}`;
      const { id } = await createChat(channel, { contact: { address, name: contactName } });
      return { id, address };
    },
    writes: (address, text) => sendAs(service.base, channel, address, { type: "message", content: text }),
    // The page is answered, so the frame before that was heard.
    types: (address) => sendAs(service.base, channel, address, { type: "ping" }, { type: "typing" }),
    does: (address, frame) => sendAs(service.base, channel, address, frame),
  };
}

/** Sends a frame through the visitors' socket. */
async function sendAs(
  at: string,
  channel: Channel,
  address: string,
  sent: Record<string, unknown>,
  first: Record<string, unknown> | null = null,
): Promise<void> {
  const url = `${at.replace("http", "ws")}/web/${channel.id}/socket?after=0`;
  const user = Buffer.from(address).toString("base64url");
  const socket = new WebSocket(url, ["parley.v1", `user.${user}.${hashOf(channel, address)}`]);
  const id = crypto.randomUUID();
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener("error", () => reject(new Error("The visitor's socket failed")));
    socket.addEventListener("close", ({ code, reason }) =>
      reject(new Error(`The visitor's socket was closed: ${code} ${reason}`)),
    );
    const send = () => {
      if (first) socket.send(JSON.stringify(first));
      // A ping must have just this text.
      socket.send(JSON.stringify(sent.type === "ping" ? sent : { id, ...sent }));
    };
    socket.addEventListener("open", send);
    socket.addEventListener("message", ({ data }) => {
      const frame = JSON.parse(String(data));
      if (frame.type === "stored" && frame.id === id) resolve();
      if (frame.type === "updated" || frame.type === "pong") resolve();
      if (frame.type !== "refused") return;
      // A visitor may send one a second.
      if (frame.retryAfter === 1) setTimeout(send, 1_000);
      else reject(new Error(`The visitor's message was refused: ${frame.code}`));
    });
  });
  socket.close();
}

/** The operator signs in, or somebody with another token. */
export async function signIn(page: Page, token = adminToken): Promise<void> {
  const field = page.getByLabel("Operator’s token");
  const fold = page.getByText("Sign in as the operator");
  await fold.or(field).first().waitFor();
  if (!(await field.isVisible())) await fold.click();
  await field.fill(token);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}

/** Accessibility violations of a refused sign-in, and of the operator's first screen. */
export async function signInViolations(browser: Browser, look: BrowserContextOptions): Promise<string[]> {
  await createOrganization(worldAt(base, adminToken), { name: "Acme" });
  const page = await (await browser.newContext(look)).newPage();
  await page.goto(`${base}/console`);
  await signIn(page, "wrong");
  await page.getByText("This is not the operator’s token.").waitFor();
  const ofSignIn = await violations(page);
  await signIn(page);
  await page.getByRole("listitem").first().waitFor();
  return [...ofSignIn, ...(await violations(page))];
}

/**
 * The options of a browser whose person can undo a send for this many seconds, in web chats too. Default: none.
 * @param seconds by default, enough for a test that undoes a send on a busy machine
 */
export function withUndo(seconds = 60): BrowserContextOptions {
  const value = JSON.stringify({ web: seconds, networks: seconds });
  return {
    storageState: { cookies: [], origins: [{ origin: base, localStorage: [{ name: "parley.console.undo", value }] }] },
  };
}

/** A page of the console with the operator signed in. */
export async function openConsole(browser: Browser, path: string, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  await beginSession(page, base, { token: adminToken }, "");
  await page.goto(`${base}${path}`);
  return page;
}

/**
 * Signs in without the sign-in's screen, which most tests do not test: the browser has the session's cookie, and what
 * the console keeps of a session.
 * @param person the member's id; empty for the operator
 */
async function beginSession(page: Page, at: string, proof: Proof, person: string): Promise<void> {
  const headers = { "Sec-Fetch-Site": "same-origin" };
  const answer = await page.request.post(`${at}/console/session`, { data: proof, headers });
  if (!answer.ok()) throw new Error(`The sign-in was answered with ${answer.status()}: ${await answer.text()}`);
  // A page of the same origin, which is small.
  await page.goto(`${at}/healthz`);
  await page.evaluate((id) => localStorage.setItem("parley.signed-in", id), person);
}

/** A page of the console with a new member signed in, who has these permissions. */
export async function openAsMember(
  browser: Browser,
  desk: Desk,
  permissions: string[],
  path: string,
  name = "Mel",
): Promise<Page> {
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
  await signInAsMember(page, desk, permissions, path, name);
  return page;
}

/** Signs a new member in on a page. */
export async function signInAsMember(
  page: Page,
  { organization, operator, base }: Desk,
  permissions: string[],
  path: string,
  name: string,
): Promise<void> {
  const { member } = await operator("POST", `/organizations/${organization.id}/members`, { name, permissions });
  const { url } = await operator("POST", `/members/${member.id}/sign-in-link`);
  await beginSession(page, base, { code: new URL(url).hash.slice("#code=".length) }, member.id);
  await page.goto(`${base}${path}`);
}

/** Waits until the code that the console fetches after the page, such as what tells of new messages, has run and is drawn. */
export async function codeIsThere(page: Page): Promise<void> {
  const code = await page.waitForFunction(
    () => performance.getEntriesByType("resource").find(({ name }) => /\/screens-/.test(name))?.name,
  );
  // As a text: what is written here as code, the tests' own loader would change.
  const drawn = "new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))";
  await page.evaluate(`import(${JSON.stringify(await code.jsonValue())}).then(() => ${drawn}).then(() => ${drawn})`);
}

/** The address of an organization's screen. */
export function screenOf({ organization }: Desk, path: string): string {
  return `/console/o/${organization.id}/${path}`;
}

/** The dialog that a screen has open. */
export const dialog = (page: Page) => page.getByRole("dialog");

/** Goes to a screen by `g` and its letter. The letter counts only within a second, so both are pressed in one moment. */
export async function goByKeys(page: Page, letter: string, name: string): Promise<void> {
  await page.evaluate((second) => {
    for (const key of ["g", second]) {
      const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true });
      (document.activeElement ?? document.body).dispatchEvent(event);
    }
  }, letter);
  await page.getByRole("heading", { level: 1, name, exact: true }).waitFor();
}

/** Waits until a part of a page is shown. If it doesn't come, the error has what the page shows instead. */
export async function comes(part: Locator): Promise<void> {
  await part.waitFor().catch(async (error: Error) => {
    throw new Error(`${error.message}\nThe page shows:\n${await part.page().locator("body").ariaSnapshot()}`);
  });
}
