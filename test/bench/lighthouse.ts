import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type BrowserContext, chromium } from "playwright-core";
import { unpackBrowser } from "../browser/browser.ts";
import { DevServer } from "../support/world/dev-server.ts";
import { type Channel, createChannel, createChat, createKey, createOrganization } from "../support/world/factories.ts";
import { hashOf } from "../support/world/identity.ts";
import { lastingPort } from "../support/world/lasting-port.ts";
import { caller } from "../support/world/world.ts";
import { quantile } from "./statistics.ts";

/** What Lighthouse says of one page. */
export interface LighthousePage {
  name: string;
  /** Of 100: the median of the rounds. Null if it was not measured. */
  performance: number | null;
  /** Of 100: the lowest of the rounds. */
  accessibility: number;
  bestPractices: number;
  /** Milliseconds: the medians. */
  blocking: number;
  largestPaint: number;
  layoutShift: number;
  /** The checks that failed, each once. */
  faults: string[];
}

interface Target {
  name: string;
  url: string;
  /** The port of a browser that is signed in; without it, a new browser opens the page. */
  port?: number;
}

interface SignedIn {
  context: BrowserContext;
  port: number;
}

/** The part of Lighthouse's report that is read. Scores are of 1. */
interface Report {
  categories: Record<string, { score: number | null; auditRefs: { id: string; weight: number }[] }>;
  audits: Record<string, { score: number | null; title: string; numericValue?: number; details?: unknown }>;
}

const run = promisify(execFile);
/** Fetched by npm when it is needed: it has 114 packages, which no other command uses. */
const LIGHTHOUSE = "lighthouse@13.5.0";
const CATEGORIES = ["performance", "accessibility", "best-practices"];
/** The console and the chat hold connections open, so they are never idle. */
const MAX_LOAD_MS = 20_000;
const TIMEOUT_MS = 180_000;

/**
 * Runs Lighthouse on a company's page without and with the widget, on the visitors' page and on the console, in turns.
 * @param rounds turns of each page
 */
export async function measureLighthouse(rounds: number, log: (line: string) => void): Promise<LighthousePage[]> {
  const server = await DevServer.begin();
  const folder = await mkdtemp(join(tmpdir(), "parley-lighthouse-"));
  const signedIn = await openConsole(server, folder);
  const sites = createServer((request, response) => {
    response.setHeader("Content-Type", "text/html; charset=utf-8");
    response.end(shop(decodeURIComponent(request.url ?? "").slice(1)));
  });
  try {
    await new Promise<void>((resolve) => sites.listen(0, "127.0.0.1", resolve));
    const targets = await targetsOf(server, `http://localhost:${(sites.address() as AddressInfo).port}`, signedIn.port);
    const reports = new Map<Target, Report[]>(targets.map((target) => [target, []]));
    for (let round = 1; round <= rounds; round++) {
      for (const target of targets) {
        log(`Round ${round} of ${rounds}: ${target.name}`);
        reports.get(target)?.push(await audit(target, join(folder, "report.json")));
      }
    }
    return [...reports].map(([{ name }, ofTarget]) => summed(name, ofTarget));
  } finally {
    sites.closeAllConnections();
    sites.close();
    await signedIn.context.close();
    await server.end();
    await rm(folder, { recursive: true, force: true });
  }
}

/** The pages, with a conversation in them. @param site the origin of the company's site @param port of the console's browser */
async function targetsOf(server: DevServer, site: string, port: number): Promise<Target[]> {
  const { base, world } = server;
  const organization = await createOrganization(world);
  const channel = await createChannel(organization, {
    name: "Acme support",
    settings: { greeting: "How can we help?" },
  });
  const chatId = await converse(server, channel);
  const user = { user: "ada", hash: hashOf(channel, "ada") };
  const tag = (attributes: string) =>
    `<script src="${base}/widget.js" data-channel="${channel.id}" ${attributes} async></script>`;
  const shopWith = (markup: string) => `${site}/${encodeURIComponent(markup)}`;
  const ours = tag(`data-user="${user.user}" data-user-hash="${user.hash}"`);
  const opens = '<script>window.Parley = [["open"]];</script>';
  const inbox = `${base}/console/o/${organization.id}/inbox`;
  return [
    { name: "a company's page", url: shopWith("") },
    { name: "with the widget", url: shopWith(tag("")) },
    { name: "with the widget, for a user with unread messages", url: shopWith(ours) },
    { name: "with the widget, and the chat open", url: shopWith(opens + ours) },
    { name: "the visitors' page", url: `${base}/web/${channel.id}#${String(new URLSearchParams(user))}` },
    { name: "the visitors' page, empty", url: `${base}/web/${channel.id}` },
    { name: "the console's sign-in", url: `${base}/console` },
    { name: "the console's inbox", url: inbox, port },
    { name: "the console, a conversation", url: `${inbox}/${chatId}`, port },
    { name: "the console's channels", url: `${base}/console/o/${organization.id}/channels`, port },
  ];
}

/** A conversation of each kind of message. @returns the chat's id */
async function converse({ world }: DevServer, channel: Channel): Promise<string> {
  const { secret } = await createKey(channel.organization);
  const company = caller(world, "/api/v1", secret);
  const { id } = await createChat(channel, { contact: { address: "ada", name: "Ada" } });
  const say = (body: object) => company("POST", `/chats/${id}/messages`, body);
  const { message } = await say({ content: "Your order is on its way." });
  await say({ content: "See https://shop.example/orders/4711 for where it is." });
  const choices = ["Morning", "Evening"].map((title) => ({ type: "reply", id: title, title }));
  await say({ content: "When may we bring it?", interactive: { choices }, replyTo: message.id });
  const location = { latitude: 48.85, longitude: 2.35, name: "Our shop" };
  await say({ content: "Or come to us.", location });
  return id;
}

/** A browser in which the operator is signed in to the console. */
async function openConsole({ base, secrets }: DevServer, folder: string): Promise<SignedIn> {
  const port = await lastingPort();
  const context = await chromium.launchPersistentContext(join(folder, "browser"), {
    executablePath: await unpackBrowser(),
    args: ["--no-sandbox", "--disable-gpu", `--remote-debugging-port=${port}`],
  });
  const page = await context.newPage();
  await page.goto(`${base}/console`);
  await page.getByText("Sign in as the operator").click();
  await page.getByLabel("Operator’s token").fill(secrets.ADMIN_TOKEN);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByRole("heading", { name: "Organizations" }).waitFor();
  await page.close();
  return { context, port };
}

/** A page of a company, with `markup` in its head. */
function shop(markup: string): string {
  const goods = Array.from(
    { length: 24 },
    (_, n) => `<li><h2>Lamp ${n + 1}</h2><p>A lamp with a shade of linen.</p></li>`,
  );
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Lamps</title>
<meta name="viewport" content="width=device-width"><meta name="description" content="Lamps of all kinds.">
<link rel="icon" href="data:,">
<style>body { font: 1rem/1.5 system-ui; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }</style>${markup}</head>
<body><main><h1>Lamps</h1><ul>${goods.join("")}</ul></main></body></html>`;
}

/** One run of Lighthouse, as a process of its own. */
async function audit({ url, port }: Target, path: string): Promise<Report> {
  const given = [
    url,
    "--quiet",
    "--output=json",
    `--output-path=${path}`,
    `--only-categories=${CATEGORIES.join(",")}`,
    `--max-wait-for-load=${MAX_LOAD_MS}`,
    "--chrome-flags=--headless --no-sandbox --disable-gpu",
    // Otherwise it would sign the operator out.
    ...(port ? [`--port=${port}`, "--disable-storage-reset"] : []),
  ];
  const env = { ...process.env, CHROME_PATH: await unpackBrowser() };
  await run("npm", ["exec", "--yes", `--package=${LIGHTHOUSE}`, "--", "lighthouse", ...given], {
    env,
    timeout: TIMEOUT_MS,
    maxBuffer: 64 * 1_048_576,
  });
  return JSON.parse(await readFile(path, "utf8")) as Report;
}

/** The reports of one page in one row. */
export function summed(name: string, reports: readonly Report[]): LighthousePage {
  const scores = (category: string) =>
    reports.map(({ categories }) => Math.round((categories[category]?.score ?? Number.NaN) * 100));
  const median = (audit: string) =>
    quantile(
      reports.map(({ audits }) => audits[audit]?.numericValue ?? Number.NaN),
      0.5,
    );
  const performance = scores("performance");
  return {
    name,
    performance: performance.some(Number.isNaN) ? null : quantile(performance, 0.5),
    accessibility: Math.min(...scores("accessibility")),
    bestPractices: Math.min(...scores("best-practices")),
    blocking: median("total-blocking-time"),
    largestPaint: median("largest-contentful-paint"),
    layoutShift: median("cumulative-layout-shift"),
    faults: [...new Set(reports.flatMap(faultsOf))],
  };
}

/** The checks of accessibility and best practices that cost a point. */
function faultsOf({ categories, audits }: Report): string[] {
  return ["accessibility", "best-practices"].flatMap((category) =>
    (categories[category]?.auditRefs ?? []).flatMap(({ id, weight }) => {
      const { score = null, title = id } = audits[id] ?? {};
      return weight > 0 && score !== null && score < 1 ? [`${id}: ${title}`] : [];
    }),
  );
}

/** Whether each page has all points of accessibility and best practices, and the widget costs none of performance. */
export function isFaultless(pages: readonly LighthousePage[]): boolean {
  const [bare, withWidget] = pages;
  const isUnchanged = (bare?.performance ?? 100) <= (withWidget?.performance ?? 0);
  return (
    isUnchanged && pages.every(({ accessibility, bestPractices }) => accessibility === 100 && bestPractices === 100)
  );
}

export function lighthouseText(pages: readonly LighthousePage[]): string {
  const rows = pages.map(({ name, performance, accessibility, bestPractices, blocking, largestPaint, layoutShift }) =>
    [
      name,
      performance ?? "",
      accessibility,
      bestPractices,
      Math.round(blocking),
      Math.round(largestPaint),
      layoutShift.toFixed(3),
    ].join(" | "),
  );
  return [
    "| page | performance | accessibility | best practices | blocked ms | largest paint ms | layout shift |\n",
    "|---|---|---|---|---|---|---|\n",
    ...rows.map((row) => `| ${row} |\n`),
    ...pages.flatMap(({ name, faults }) => faults.map((fault) => `${name}: ${fault}\n`)),
  ].join("");
}
