import { type ChildProcess, spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { newWebhookSecret, signatureHeaders } from "../../../src/model/webhook-signature.ts";
import { type Asked, clientOf, json } from "../../client/server.ts";
import { lastingPort } from "../../support/world/lasting-port.ts";
import { checkTypes, codeBelow, codeOf, installedProject } from "./package.ts";

// The service signs in the Workers runtime, which has these two. Node has them in later versions.
Object.assign(Uint8Array, { fromBase64: (base64: string) => new Uint8Array(Buffer.from(base64, "base64")) });
Object.assign(Uint8Array.prototype, {
  toBase64(this: Uint8Array) {
    return Buffer.from(this).toString("base64");
  },
});

const BODY = JSON.stringify({ id: "evt_g1", data: { message: { text: "Grüße 👋" } } });
const [SECRET, OTHER] = [newWebhookSecret(), newWebhookSecret()];

interface Call {
  headers: Record<string, string>;
  body: string;
  secret: string;
}

const project = await installedProject();

afterAll(() => project.remove());

/** Runs a program of the project to its end, or until the test is over. */
async function start(name: string, code: string, env: Record<string, string> = {}): Promise<ChildProcess> {
  const path = join(project.folder, name);
  await writeFile(path, code);
  const [command, ...flags] = name.endsWith(".py") ? ["python3"] : [process.execPath, "--no-warnings"];
  const own = { PATH: process.env.PATH ?? "", ...env } as unknown as NodeJS.ProcessEnv;
  const child = spawn(command as string, [...flags, path], { env: own, cwd: project.folder });
  child.stderr.pipe(process.stderr);
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

async function callAt(at: number, secrets = [SECRET], secret = SECRET): Promise<Call> {
  return { headers: await signatureHeaders(secrets, "evt_g1", at, BODY), body: BODY, secret };
}

function changed(call: Call, headers: Record<string, string>): Call {
  return { ...call, headers: { ...call.headers, ...headers } };
}

/** A call that someone signs who hopes that the receiver has no secret. */
function signedWithEmptyKey({ headers, body }: Call): Call {
  const signed = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`;
  const signature = createHmac("sha256", "").update(signed).digest("base64");
  return { headers: { ...headers, "webhook-signature": `v1,${signature}` }, body, secret: "" };
}

const DRIVERS = {
  "ts Client": `import { text } from "node:stream/consumers";
    const found = [];
    for (const { headers, body, secret } of JSON.parse(await text(process.stdin))) {
      found.push(await verify(new Headers(headers), body, secret).then(({ id }) => id, () => null));
    }
    console.log(JSON.stringify(found));`,
  "python Python": `
import sys
def found(call):
    try:
        return verify(call["headers"], call["body"].encode(), call["secret"])["id"]
    except ValueError:
        return None
print(json.dumps([found(call) for call in json.load(sys.stdin)]))`,
};

test.each([
  ["ts Client", "client.ts", DRIVERS["ts Client"]],
  ["ts WebCrypto", "web-crypto.ts", DRIVERS["ts Client"]],
  ["python Python", "verify.py", DRIVERS["python Python"]],
])("the guide's %s code accepts calls of the service, and refuses forged and old ones", async (label, name, driver) => {
  const now = Date.now();
  const call = await callAt(now);
  const good = [
    call,
    await callAt(now, [SECRET, OTHER]),
    await callAt(now, [OTHER, SECRET]),
    await callAt(now - 280_000),
    await callAt(now + 280_000),
  ];
  const bad = [
    await callAt(now, [OTHER]),
    await callAt(now - 310_000),
    await callAt(now + 400_000),
    { ...call, body: BODY.replace("evt_g1", "evt_g2") },
    changed(call, { "webhook-id": "evt_g2" }),
    changed(call, { "webhook-timestamp": String(Math.floor(now / 1_000) - 1) }),
    changed(call, { "webhook-timestamp": "now" }),
    changed(call, { "webhook-signature": "" }),
    changed(call, { "webhook-signature": "v1," }),
    { ...call, headers: {} },
    { ...call, secret: "" },
    signedWithEmptyKey(call),
  ];
  const child = await start(name, `${await codeOf("webhooks", "Verify a call", label)}\n${driver}`);
  child.stdin?.end(JSON.stringify([...good, ...bad]));
  const found = JSON.parse(await text(child.stdout as NodeJS.ReadableStream)) as (string | null)[];
  expect(found).toEqual([...good.map(() => "evt_g1"), ...bad.map(() => null)]);
});

test("the guides' TypeScript has correct types", async () => {
  const blocks = {
    "receive.ts": await codeOf("webhooks", "Receive messages", "ts Client"),
    "verify.ts": await codeOf("webhooks", "Verify a call", "ts Client"),
    "by-hand.ts": await codeOf("webhooks", "Verify a call", "ts WebCrypto"),
    "stream.ts": await codeOf("events", "Read the live stream", "ts Client"),
    "pages.ts": `export {};\n${await codeOf("using-the-api", "Pages", "ts fetch")}`,
    "lists.ts": `${await codeBelow("Install")}\n${await codeOf("using-the-api", "Pages", "ts Client")}`,
    "poll.ts": `${await codeOf("events", "Move from polling", "ts fetch")}\nexport { follow };`,
  };
  const paths = Object.keys(blocks).map((name) => join(project.folder, name));
  await Promise.all(Object.values(blocks).map((code, index) => writeFile(paths[index] as string, code)));
  await checkTypes(...paths);
});

test("the guide's receiver has ten lines, prints a message that the service signed, and refuses others", async () => {
  const code = await codeOf("webhooks", "Receive messages", "ts Client");
  expect(code.trim().split("\n").length).toBeLessThanOrEqual(10);
  const port = await lastingPort();
  const child = await start("receiver.ts", code.replace("3000", String(port)), { WEBHOOK_SECRET: SECRET });
  const post = async (event: object, secret = SECRET) => {
    const body = JSON.stringify(event);
    const headers = await signatureHeaders([secret], "evt_g1", Date.now(), body);
    return (await fetch(`http://127.0.0.1:${port}/`, { method: "POST", headers, body })).status;
  };
  const received = { type: "message.received", chatId: "cht_g1", data: { message: { text: "Hi" } } };
  const printed = once(child.stdout as NodeJS.ReadableStream, "data");
  await expect.poll(() => post({ ...received, type: "ping" }).catch(() => null)).toBe(204);
  expect(await post(received, OTHER)).toBe(401);
  expect(await post(received)).toBe(204);
  expect(String(await printed)).toBe("cht_g1 Hi\n");
});

test("the guide's stream has ten lines and prints the messages as they come", async () => {
  const code = await codeOf("events", "Read the live stream", "ts Client");
  expect(code.trim().split("\n").length).toBeLessThanOrEqual(10);
  const { url, asked } = await clientOf([
    json(200, { events: [], cursor: "0", hasMore: false }),
    (response) => {
      const event = { chatId: "cht_g1", data: { message: { text: "Hi" } } };
      response.writeHead(200, { "Content-Type": "text/event-stream" });
      response.write(`id: 1\ndata: ${JSON.stringify(event)}\n\n`);
    },
  ]);
  const child = await start("stream.ts", code.replace("https://parley.example", url), { PARLEY_API_KEY: "ply_test" });
  const [printed] = (await once(child.stdout as NodeJS.ReadableStream, "data")) as [Buffer];
  expect(String(printed)).toBe("cht_g1 Hi\n");
  expect(asked.map(({ path, query }) => [path, query.types])).toEqual([
    ["/api/v1/events", "message.received"],
    ["/api/v1/events/stream", "message.received"],
  ]);
});

test("the guide's loop that replaces polling reads page after page", async () => {
  const after: (string | undefined)[] = [];
  const { url } = await clientOf([
    (response, { query }: Asked) => {
      after.push(query.after);
      const number = Number(query.after) + 1;
      const page = { events: [{ id: `evt_${number}` }], cursor: String(number), hasMore: false };
      response.end(JSON.stringify(page));
    },
  ]);
  const code = (await codeOf("events", "Move from polling", "ts fetch")).replace("https://parley.example", url);
  const shown = `for await (const { id } of follow("4")) {\n  console.log(id);\n  if (id === "evt_6") break;\n}`;
  const child = await start("poll.ts", `${code}\n${shown}`);
  expect(await text(child.stdout as NodeJS.ReadableStream)).toBe("evt_5\nevt_6\n");
  expect(after).toEqual(["4", "5"]);
});

test("the guide's loops over all pages print each message once", async () => {
  const rows = ["msg_3", "msg_2", "msg_1"].map((id, at) => ({ id, seq: 3 - at, text: `No. ${3 - at}` }));
  const { url } = await clientOf([
    (response, { query }: Asked) => {
      const from = rows.findIndex(({ id }) => id === query.before) + 1;
      const messages = rows.slice(from, from + 1);
      const pagination = { limit: 1, total: 3, hasMore: from + 1 < rows.length };
      response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify({ messages, pagination }));
    },
  ]);
  const byHand = await codeOf("using-the-api", "Pages", "ts fetch");
  const byClient = `${await codeBelow("Install")}\n${await codeOf("using-the-api", "Pages", "ts Client")}`;
  for (const [name, code] of Object.entries({ "by-hand.ts": byHand, "by-client.ts": byClient })) {
    const child = await start(name, code.replace("https://parley.example", url), { PARLEY_API_KEY: "ply_test" });
    expect(await text(child.stdout as NodeJS.ReadableStream), name).toBe("3 No. 3\n2 No. 2\n1 No. 1\n");
  }
});
