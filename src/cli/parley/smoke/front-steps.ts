import { setTimeout as delay } from "node:timers/promises";
import { VERSION } from "../../../model/version.ts";
import { printable } from "../table.ts";
import { check, connectionFault, type Reply, SmokeFault, Unproven } from "./caller.ts";
import { type Lab, type NewKey, operate, type Tenant } from "./lab.ts";

/** More than twice the limit of strangers in a minute, which is 600: a minute may end in between. */
const STRANGERS = 1_300;
const AT_ONCE = 40;
const FIRST = 60;
/** An address of the documentation, which nobody calls from. */
const NOBODY = "192.0.2.1";
const SKEW_MS = 60_000;

/** The service answers, and which version it is. Notes its build. */
export async function healthStep({ caller, seen, build: deployed }: Lab): Promise<string> {
  const { status, body } = await caller.ask("GET", "/healthz");
  check(status === 200 && body.ok === true, `is not Parley: its /healthz answers ${status}`, "check the address");
  const advice = "deploy this version first: npm run deploy";
  check(
    typeof body.version === "string",
    "the service is older than this command, and has no temporary organizations",
    advice,
  );
  const version = printable(body.version);
  check(version === VERSION, `the service has version ${version}, and this command ${VERSION}`, advice);
  const build: string | null = typeof body.build === "string" ? printable(body.build) : null;
  seen.push({ build, at: Date.now() });
  const isOther = deployed !== null && build !== deployed;
  return `version ${version}, ${build === null ? "not deployed" : `build ${build}`}${isOther ? `, and not the deployed build ${deployed}` : ""}`;
}

/**
 * Over plain http, nothing is served and no secret is taken. No secret is sent.
 * @param patienceMs how long it waits for the answers
 * @throws SmokeFault, or the reason of `signal`
 */
export async function plainHttpStep(
  plain: string,
  signal: AbortSignal,
  patienceMs = 10_000,
): Promise<string | Unproven> {
  const end = new AbortController();
  const either = AbortSignal.any([signal, end.signal, AbortSignal.timeout(patienceMs)]);
  const answerTo = (path: string) => fetch(new URL(path, plain), { redirect: "manual", signal: either });
  const toHttps = 'turn on "Always Use HTTPS" for the zone';
  let hasAnswered = false;
  try {
    const api = await answerTo("/api/v1/key");
    hasAnswered = true;
    check(
      isSecured(api) || isRefusal(await api.text()),
      `GET /api/v1/key over plain http answered ${api.status}: a key would be readable on the network`,
      toHttps,
    );
    check(isSecured(await answerTo("/widget.js")), "pages and scripts are served over plain http", toHttps);
    return "plain http is refused, or leads to https";
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof SmokeFault) throw error;
    const why = error instanceof SyntaxError ? "broken JSON" : connectionFault(error, patienceMs);
    if (why === "ECONNREFUSED" && !hasAnswered) return "nothing listens to plain http";
    const advice = `curl -i ${new URL("/api/v1/key", plain).href} must be refused, or lead to https`;
    return new Unproven(`plain http got no complete answer (${why})`, advice);
  } finally {
    // Bodies that were not read.
    end.abort();
  }
}

/** Whether the service refuses plain http with this body. @throws SyntaxError if the body is cut */
function isRefusal(text: string): boolean {
  return text.startsWith("{") && (JSON.parse(text) as { code?: unknown }).code === "https_required";
}

function isSecured({ status, headers }: Response): boolean {
  return status >= 300 && status < 400 && headers.get("Location")?.startsWith("https://") === true;
}

/** The static files, with the headers that protect them. */
export async function pagesStep({ caller }: Lab): Promise<string> {
  const advice = "build and deploy again: npm run deploy. A rule of the zone must not change these headers";
  for (const [path, type, headers] of [
    ["/docs", "text/html", { "X-Content-Type-Options": "nosniff", "Content-Security-Policy": "script-src 'self'" }],
    ["/widget.js", "text/javascript", { "X-Content-Type-Options": "nosniff", "Access-Control-Allow-Origin": "*" }],
  ] as const) {
    const reply = await caller.ask("GET", path);
    check(reply.status === 200, `GET ${path} answered ${reply.status}`, advice);
    const is = reply.headers.get("Content-Type") ?? "none";
    check(is.startsWith(type), `GET ${path} came as ${printable(is)}`, advice);
    for (const [name, part] of Object.entries(headers)) {
      check(reply.headers.get(name)?.includes(part) === true, `GET ${path} lacks ${name}: ${part}`, advice);
    }
  }
  return "/docs and /widget.js come with their headers";
}

/** Wrong keys get 401, until the limit of strangers refuses them. */
export async function strangersStep({ caller }: Lab): Promise<string | Unproven> {
  let sent = 0;
  for (const size of [FIRST, ...Array.from({ length: Math.ceil((STRANGERS - FIRST) / AT_ONCE) }, () => AT_ONCE)]) {
    const replies = await Promise.all(
      Array.from({ length: size }, () => caller.ask("GET", "/api/v1/key", { token: "ply_wrong" })),
    );
    sent += size;
    const other = replies.find(({ status }) => status !== 401 && status !== 429);
    check(other === undefined, `a wrong key got ${other?.status}`, "npx wrangler tail shows why");
    if (replies.some(({ status }) => status === 429)) return `wrong keys got 401, and 429 within ${sent}`;
  }
  return new Unproven(
    `${sent} wrong keys got 401 and none 429: Cloudflare counted them in several places, or STRANGERS is not bound`,
    "look for abuse_limit_failed in the log, and for [[ratelimits]] in wrangler.toml",
  );
}

/** The service sees the address that called. */
export async function addressStep(lab: Lab, { id }: Tenant): Promise<string> {
  const { caller } = lab;
  const within = `/organizations/${id}/keys`;
  const { key, secret } = await operate<NewKey>(lab, 201, "POST", within, { name: "Address", ipAllowlist: [NOBODY] });
  const own = new Set([await frontAddress(lab), await frontAddress(lab)]);
  const refused = await caller.ask("GET", "/api/v1/key", { token: secret });
  const setting = 'look at the zone\'s Managed Transforms ("Remove visitor IP headers") and "Pseudo IPv4" in Network';
  check(refused.status === 403, `a key for ${NOBODY} alone was answered ${refused.status} here`, setting);
  const text = String(refused.body.message);
  const seen = /^The address (\S+) is not allowed/.exec(text)?.[1];
  if (seen === undefined) throw new SmokeFault(`the service sees no client address: ${printable(text)}`, setting);
  const address = printable(seen);
  own.delete(null);
  const isOwn = own.size === 0 || own.has(seen);
  check(
    isOwn,
    `the service sees ${address}, and Cloudflare ${[...own].map((one) => printable(one ?? "")).join(" and ")}`,
    setting,
  );
  await operate(lab, 200, "PATCH", `/keys/${key.id}`, { ipAllowlist: [seen] });
  const admitted = await caller.ask("GET", "/api/v1/key", { token: secret });
  check(admitted.status === 200, `a key for ${address} alone was answered ${admitted.status} from there`, setting);
  return `allow-lists see ${address}${own.size > 0 ? ", as Cloudflare does" : ""}`;
}

/** The caller's address as Cloudflare's front sees it; null where there is no front. */
async function frontAddress({ caller }: Lab): Promise<string | null> {
  const { status, bytes } = await caller.ask("GET", "/cdn-cgi/trace");
  return status === 200 ? (/^ip=(.+)$/m.exec(new TextDecoder().decode(bytes))?.[1] ?? null) : null;
}

/** The service's clock and this machine's are the same. `message` was created between the two times. */
export function clockFault(
  message: { createdAt: string },
  { headers }: Pick<Reply, "headers">,
  now: number,
): string | null {
  const off = Date.parse(message.createdAt) - now;
  if (Math.abs(off) <= SKEW_MS) return null;
  const front = Date.parse(headers.get("Date") ?? "") - now;
  const seconds = Math.round(off / 1_000);
  if (Math.abs(front) > SKEW_MS)
    return `the clocks of this machine and of the service differ by ${seconds} s: set this one`;
  return `the Worker's clock is off by ${seconds} s`;
}

/** All looks at the version saw the same one, for a minute; after a deploy, the one that it made. */
export async function rolloutStep(lab: Lab): Promise<string> {
  const { seen, pace, caller } = lab;
  const first = seen[0]?.at ?? Date.now();
  await delay(Math.max(0, first + pace.rollout - Date.now()), undefined, { signal: caller.signal });
  for (let look = 0; look < 5; look++) await healthStep(lab);
  const builds = [...new Set(seen.map(({ build }) => build))];
  const advice = "a rollout takes a minute: repeat this. npx wrangler deployments list shows what should run";
  const isThere = lab.build === null || builds.includes(lab.build);
  check(isThere, `the deployed build ${lab.build} never answered, but ${builds.join(", ")}`, advice);
  check(builds.length === 1, `several versions answer: ${builds.join(", ")}`, advice);
  return `only build ${builds[0]} answered, for ${Math.round((Date.now() - first) / 1_000)} s`;
}
