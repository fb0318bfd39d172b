/** `npx node test/browser/picture.ts`: takes the README's picture of the console, from a new demo. */
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launchBrowser } from "./browser.ts";

const root = join(import.meta.dirname, "../..");
const PICTURE = join(root, "src/web/inbox.png");

const state = await mkdtemp(join(tmpdir(), "parley-picture-"));
const server = spawn(process.execPath, ["src/cli/local/main.ts", "--port", "0", "--persist-to", state], {
  cwd: root,
  stdio: ["ignore", "pipe", "inherit"],
});
let printed = "";
let link: string | undefined;
for await (const text of server.stdout) {
  printed += String(text);
  link = /^Console +(\S+)\s/m.exec(printed)?.[1];
  if (link) break;
}
try {
  if (!link) throw new Error("npm start printed no link to the console");
  const browser = await launchBrowser();
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 830 }, deviceScaleFactor: 2 });
    await page.goto(link);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByRole("button", { name: "Not now" }).click();
    await page.getByText("Ana Ruiz").first().click();
    await page.getByText("Yes, in three to five days").last().waitFor();
    // The file's picture moves the messages once it is there.
    await page.waitForFunction(() => [...document.images].some((image) => image.naturalWidth > 0));
    await page.getByText("Hi, I ordered a lamp").first().waitFor();
    await page.getByRole("button", { name: "Unanswered 1" }).waitFor();
    // What is under the pointer shows what can be done with it.
    await page.mouse.move(800, 75);
    await page.screenshot({ path: PICTURE });
    console.log(PICTURE);
  } finally {
    await browser.close();
  }
} finally {
  server.kill("SIGTERM");
  await rm(state, { recursive: true, force: true, maxRetries: 10 });
}
