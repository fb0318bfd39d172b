import { randomInt } from "node:crypto";
import { Agent, type IncomingMessage, request } from "node:http";
import { parseArgs } from "node:util";
import { exitCodeOf, wholeNumber } from "../../support/mistake.ts";
import { Secrets, shownIn } from "../../support/secrets.ts";
import { CREDENTIALS } from "../../support/world/factories.ts";
import { startService } from "../../support/world/service.ts";
import { dearestText, findDearest } from "../dearest/run.ts";
import { type Ask, Place, type Told } from "./fixtures.ts";
import { fuzz, neverGood, type Tally } from "./run.ts";
import { RECEIVER } from "./values.ts";

const USAGE = `npm run test:long -- fuzz [options]

  --requests <n>  how many requests are made of all routes (200000)
  --seed <n>      those of an earlier run
  --dearest       looks for the dearest requests of each route instead, with 1,000 requests unless --requests says so, and
                  prints what each costs
`;

const { telegram, whatsapp } = CREDENTIALS;
/** The bot's id, before the colon, is no secret. */
const FAKED = [telegram.botToken.replace(/.*:/, ""), whatsapp.accessToken, whatsapp.appSecret];
const CALLED = ["api.telegram.org", "graph.facebook.com", RECEIVER];

const MAX_TRIES = 4;

const UPGRADE = {
  Connection: "Upgrade",
  "Sec-WebSocket-Version": "13",
  "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
};

process.exitCode = await exitCodeOf(() => main(process.argv.slice(2)));

/** `npm run test:long -- fuzz`: 0 when no request met a fault of the service, no secret came out, and every route was met. */
async function main(argv: string[]): Promise<number> {
  const { values } = parseArgs({
    args: argv,
    options: {
      requests: { type: "string" },
      dearest: { type: "boolean", default: false },
      seed: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return print(USAGE, 0);
  const count = wholeNumber("requests", values.requests ?? (values.dearest ? "1000" : "200000"));
  const seed = values.seed === undefined ? randomInt(1, 2 ** 31) : wholeNumber("seed", values.seed);
  if (values.dearest) return print(`Seed ${seed}\n${dearestText(await findDearest(count, seed))}`, 0);
  const secrets = new Secrets();
  const found: string[] = [];
  const look = (what: string, text: string) => {
    const secret = secrets.in(text);
    if (secret !== null) found.push(`${what}: ${secret}`);
  };
  const service = await startService({ onLine: (line) => look("the log", line) });
  for (const secret of [...Object.values(service.secrets), ...FAKED]) secrets.plant(secret);
  const agent = new Agent({ keepAlive: true, maxSockets: 20 });
  const ask: Ask = async (method, path, sent) => {
    const told = await askOver(agent, service.url, method, path, sent);
    const shown = shownIn(`${JSON.stringify([...told.headers])} ${told.text}`);
    for (const secret of shown.secrets) secrets.plant(secret);
    look(`${method} ${path}`, shown.rest);
    return told;
  };
  const begun = performance.now();
  try {
    const place = await Place.make(ask, service.secrets.ADMIN_TOKEN);
    const tally = await fuzz(place, {
      count,
      seed,
      onThousand: (tally) => void process.stderr.write(`${tally.requests} requests: ${listed(tally)}\n`),
    });
    const seconds = Math.round((performance.now() - begun) / 1_000);
    print(`${tally.requests} requests in ${seconds} s, seed ${seed}\n${listed(tally)}\n`, 0);
    const unmet = neverGood(tally).map((route) => `never did what it is there for: ${route}`);
    const faults = [
      ...found.slice(0, 20),
      ...(await place.gone()).map((path) => `was gone before the end: ${path}`),
      ...unmet,
      ...[...service.called].filter((host) => !CALLED.includes(host)).map((host) => `called ${host}`),
    ];
    if (faults.length === 0) return print("All held.\n", 0);
    const rest = faults.length === unmet.length ? "All else held: more --requests meet more routes.\n" : "";
    return print(`${faults.join("\n")}\n${rest}`, 1);
  } catch (error) {
    const lives = await fetch(new URL("/healthz", service.url)).then(({ status }) => status, String);
    const again = `npm run test:long -- fuzz --requests ${count} --seed ${seed}`;
    return print(`${String(error)}\n/healthz says ${lives}\n\nAgain: ${again}\n`, 1);
  } finally {
    agent.destroy();
    await service.stop();
  }
}

/**
 * A request as it was drawn, with nothing made good on the way; a socket or a stream that is opened is closed again. The runtime
 * hangs up behind an answer to a body that it did not read, and where it was stopped for a while: a request that meets
 * that is made again on a connection of its own.
 */
function askOver(
  agent: Agent | false,
  url: URL,
  method: string,
  path: string,
  sent: Parameters<Ask>[2],
  tries = 1,
): Promise<Told> {
  return new Promise((resolve, reject) => {
    const { headers, body } = sent;
    const length = body ? { "Content-Length": String(body.length) } : {};
    const upgrade = headers.Upgrade === "websocket" ? UPGRADE : {};
    const { hostname, port } = url;
    const out = request({ agent, hostname, port, method, path, headers: { ...length, ...upgrade, ...headers } });
    out.on("error", (error) => {
      if (tries < MAX_TRIES) askOver(false, url, method, path, sent, tries + 1).then(resolve, reject);
      else reject(error);
    });
    out.on("response", (answer) => void told(answer).then(resolve, reject));
    out.on("upgrade", (answer, socket) => {
      socket.destroy();
      void told(answer).then(resolve, reject);
    });
    out.end(body ?? undefined);
  });
}

async function told(answer: IncomingMessage): Promise<Told> {
  const chunks: Buffer[] = [];
  const isStream = answer.headers["content-type"] === "text/event-stream";
  if (isStream) answer.destroy();
  else if (answer.statusCode !== 101) for await (const chunk of answer) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  const headers = new Headers();
  for (let at = 0; at < answer.rawHeaders.length; at += 2) {
    headers.append(answer.rawHeaders[at] ?? "", answer.rawHeaders[at + 1] ?? "");
  }
  const isJson = headers.get("Content-Type")?.startsWith("application/json");
  return { status: answer.statusCode ?? 0, headers, text, body: isJson && text ? JSON.parse(text) : null };
}

function listed({ statuses }: Tally): string {
  const sorted = [...statuses].sort(([one], [other]) => one - other);
  return sorted.map(([status, times]) => `${status}: ${times}`).join(", ");
}

function print(text: string, code: number): number {
  process.stdout.write(text);
  return code;
}
