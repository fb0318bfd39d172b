import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Webhook } from "standardwebhooks";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { type Asked, clientOf, json } from "../../client/server.ts";
import { lastingPort } from "../../support/world/lasting-port.ts";
import { checkTypes, codeBelow, installedProject } from "./package.ts";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

const project = await installedProject();

afterAll(() => project.remove());

/** Runs a file of the project to its end, or until the test is over. */
async function start(name: string, code: string, env: Record<string, string>): Promise<ChildProcess> {
  const path = join(project.folder, name);
  await writeFile(path, code);
  const own = { PATH: process.env.PATH ?? "", ...env } as unknown as NodeJS.ProcessEnv;
  const child = spawn(process.execPath, ["--no-warnings", path], { env: own, cwd: project.folder });
  child.stderr.resume();
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

test("the guide's code has correct types", async () => {
  const install = await codeBelow("Install");
  const sections = {
    Send: install,
    Files: install,
    "Ask with choices": install,
    Lists: install,
    Events: install,
    "Every other route": install,
  };
  const paths: string[] = [];
  for (const [heading, before] of Object.entries({ ...sections, "Verify a webhook": "", "Echo bot": "" })) {
    const path = join(project.folder, `${heading}.ts`);
    await writeFile(path, `${before}\n${await codeBelow(heading)}`);
    paths.push(path);
  }
  await checkTypes(...paths);
});

test("the guide's events continue after a restart where they stopped", async () => {
  const event = (number: number) => ({
    id: `evt_${number}`,
    chatId: "cht_g1",
    data: { message: { text: `No. ${number}` } },
  });
  const after: (string | undefined)[] = [];
  const { url } = await clientOf([
    (response, { path, query }: Asked) => {
      after.push(query.after);
      if (path === "/api/v1/events")
        return json(200, { events: [], cursor: "0", hasMore: false })(response, {} as Asked);
      const number = Number(query.after) + 1;
      response.writeHead(200, { "Content-Type": "text/event-stream" });
      response.write(`id: ${number}\ndata: ${JSON.stringify(event(number))}\n\n`);
    },
  ]);
  const code = `${await codeBelow("Install")}\n${await codeBelow("Events")}`.replace("https://parley.example", url);
  const printed: string[] = [];
  for (const _ of [1, 2]) {
    const child = await start("events.mjs", code, { PARLEY_API_KEY: "ply_test" });
    const [text] = (await once(child.stdout ?? child, "data")) as [Buffer];
    printed.push(String(text));
    // The file is written after the line is printed.
    const saved = () => readFile(join(project.folder, "cursor.txt"), "utf8").catch(() => "");
    await expect.poll(saved).toBe(String(printed.length));
    child.kill("SIGKILL");
    await once(child, "exit");
  }
  expect(printed).toEqual(["cht_g1 No. 1\n", "cht_g1 No. 2\n"]);
  expect(after).toEqual([undefined, "0", "1"]);
});

test("the guide's echo bot has 25 lines, answers a signed call once, and refuses others", async () => {
  const code = await codeBelow("Echo bot");
  expect(code.trim().split("\n").length).toBeLessThanOrEqual(25);
  const { url, asked } = await clientOf([json(201, { message: { id: "msg_g1" } })]);
  const port = await lastingPort();
  await start("echo-bot.mjs", code, {
    PARLEY_URL: url,
    PARLEY_API_KEY: "ply_test",
    WEBHOOK_SECRET: SECRET,
    PORT: String(port),
  });
  const call = async (event: object, secret = SECRET) => {
    const body = JSON.stringify(event);
    const now = new Date();
    const headers = {
      "webhook-id": "evt_g1",
      "webhook-timestamp": String(Math.floor(now.getTime() / 1_000)),
      "webhook-signature": new Webhook(secret).sign("evt_g1", now, body),
    };
    return (await fetch(`http://127.0.0.1:${port}/`, { method: "POST", headers, body })).status;
  };
  const received = { id: "evt_g1", type: "message.received", chatId: "cht_g1", data: { message: { text: "Hi" } } };
  await expect.poll(() => call(received).catch(() => null)).toBe(204);
  expect(await call(received)).toBe(204);
  expect(await call({ ...received, type: "message.created" })).toBe(204);
  expect(await call(received, "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD")).toBe(401);
  const sent = asked.map(({ path, body, headers }) => [path, JSON.parse(body), headers["idempotency-key"]]);
  const answer = ["/api/v1/chats/cht_g1/messages", { content: "You wrote: Hi" }, "evt_g1"];
  expect(sent).toEqual([answer, answer]);
});
