import { execFile, spawn } from "node:child_process";
import { access, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { Parley } from "../../../src/client/index.ts";
import {
  type Channel,
  createChannel,
  createChat,
  createKey,
  createOrganization,
} from "../../support/world/factories.ts";
import { caller } from "../../support/world/world.ts";
import { Place } from "../cli/parley/fixtures.ts";
import { codeOf } from "./package.ts";

const placeOf = Place.ofFile();
const PERMISSIONS = [
  "chats:read",
  "chats:write",
  "messages:read",
  "messages:send",
  "notes:read",
  "notes:write",
  "events:read",
];

/** Runs a bot of the guide until the test is over. */
async function start(name: string, code: string, env: Record<string, string>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "parley-bot-"));
  await writeFile(join(folder, name), code);
  const [command, ...flags] = name.endsWith(".py") ? ["python3"] : [process.execPath, "--no-warnings"];
  const own = { PATH: process.env.PATH ?? "", ...env } as unknown as NodeJS.ProcessEnv;
  const child = spawn(command as string, [...flags, name], { cwd: folder, env: own });
  child.stderr.pipe(process.stderr);
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await rm(folder, { recursive: true });
  });
  // It writes its place once it has one. What comes after that is not missed.
  await expect
    .poll(() =>
      access(join(folder, "place.txt")).then(
        () => true,
        () => false,
      ),
    )
    .toBe(true);
}

let updates = 1_000;

/** A contact writes to a channel of Telegram. */
async function writes({ webhook }: Channel, contact: number, text: string): Promise<void> {
  const from = { id: contact, is_bot: false, first_name: "Ada" };
  const message = {
    message_id: ++updates,
    date: Math.floor(Date.now() / 1_000),
    chat: { id: contact, type: "private" },
    from,
    text,
  };
  const headers = { "X-Telegram-Bot-Api-Secret-Token": webhook.verifyToken, "Content-Type": "application/json" };
  const body = JSON.stringify({ update_id: ++updates, message });
  const response = await fetch(webhook.url, { method: "POST", headers, body });
  expect(response.status).toBe(200);
}

test.each([
  ["js Node", "bot.mjs"],
  ["python Python", "bot.py"],
])(
  "the guide's %s bot has at most 40 lines, answers what it knows and hands the rest to people",
  async (label, name) => {
    const code = await codeOf("bots", "An example", label);
    expect(code.trim().split("\n").length).toBeLessThanOrEqual(40);
    const organization = await createOrganization(placeOf().world);
    const channel = await createChannel(organization, { kind: "telegram" });
    const { id: keyId, secret } = await createKey(organization, { permissions: PERMISSIONS });
    const operate = caller(organization.world, "/admin/v1", organization.world.adminToken);
    await operate("PATCH", `/channels/${channel.id}`, { settings: { bot: { keyId } } });
    await start(name, code, { PARLEY_URL: placeOf().url(), PARLEY_API_KEY: secret, PARLEY_CHANNEL: channel.id });
    const parley = new Parley({ url: placeOf().url(), apiKey: secret });
    const [contact] = [4_711_000 + updates];
    let address = `${contact}`;
    const chat = async () =>
      (await parley.api.GET("/chats")).data?.chats.find((one) => one.contact.address === address);
    const texts = async () => {
      const id = (await chat())?.id ?? "";
      const { data } = await parley.api.GET("/chats/{id}/messages", { params: { path: { id } } });
      return data?.messages.map(({ text }) => text).toReversed();
    };
    await writes(channel, contact, "What are your hours?");
    await expect.poll(texts).toEqual(["What are your hours?", "We are open from 9:00 to 17:00."]);
    expect((await chat())?.handler).toBe("bot");
    await writes(channel, contact, "I want my money back");
    await expect.poll(chat).toMatchObject({ handler: "people" });
    expect((await texts())?.slice(2)).toEqual(["I want my money back", "A colleague will answer you."]);
    // People have the chat: the bot is silent.
    const handedOver = await chat();
    await writes(channel, contact, "And what is the price?");
    await writes(channel, contact + 1, "And what is the price?");
    address = `${contact + 1}`;
    await expect.poll(texts).toEqual(["And what is the price?", "It costs 10 euros."]);
    // It has dealt with the first chat's question before it reads this one.
    await writes(channel, contact + 1, "When are your hours?");
    await expect.poll(async () => (await texts())?.length).toBe(4);
    const path = { id: handedOver?.id ?? "" };
    const { data } = await parley.api.GET("/chats/{id}/messages", { params: { path } });
    expect(data?.messages[0]?.text).toBe("And what is the price?");
  },
);

test("the guide's agent lists the chats, and sends a message, or writes a draft with a key that only drafts", async () => {
  const folder = await mkdtemp(join(tmpdir(), "parley-agent-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, "agent.mjs"), await codeOf("agents", "Write an agent", "js Node"));
  await symlink(resolve("node_modules"), join(folder, "node_modules"));
  const organization = await createOrganization(placeOf().world);
  const channel = await createChannel(organization);
  const { id } = await createChat(channel, { contact: { address: "ada", name: "Ada" } });
  const { secret } = await createKey(organization, { permissions: PERMISSIONS });
  const env = { PATH: process.env.PATH ?? "", PARLEY_URL: placeOf().url(), PARLEY_AGENT_KEY: secret };
  const run = (...args: string[]) =>
    promisify(execFile)(process.execPath, ["--no-warnings", "agent.mjs", ...args], {
      cwd: folder,
      env: env as unknown as NodeJS.ProcessEnv,
    });
  const { stdout } = await run();
  expect(stdout).toMatch(new RegExp(`^${id} .*Ada.* answered\\n$`));
  await run(id, "Hello from an agent");
  const parley = new Parley({ url: placeOf().url(), apiKey: secret });
  const { data } = await parley.api.GET("/chats/{id}/messages", { params: { path: { id } } });
  expect(data?.messages).toMatchObject([{ text: "Hello from an agent" }]);
  await expect(run("cht_gAAAAAAAAAAAAAAA", "Hello")).rejects.toThrow("Chat not found");
  const drafting = await createKey(organization, {
    draftsOnly: true,
    permissions: ["chats:read", "messages:read", "messages:send", "notes:write"],
  });
  env.PARLEY_AGENT_KEY = drafting.secret;
  const draft = await run(id, "A draft");
  expect(draft.stdout).toContain("A draft");
  const { data: after } = await parley.api.GET("/chats/{id}/messages", { params: { path: { id } } });
  expect(after?.messages).toHaveLength(1);
});
