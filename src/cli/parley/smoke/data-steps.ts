import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { setTimeout as delay } from "node:timers/promises";
import type { ApiSchemas } from "../../../client/parley.ts";
import { printable } from "../table.ts";
import { check, isRefused, type SmokeCaller, SmokeFault, wanted } from "./caller.ts";
import { clockFault } from "./front-steps.ts";
import {
  type Lab,
  type NewKey,
  newTenant,
  type OneFile,
  type OneMessage,
  operate,
  randomBytes,
  type SmokePlace,
  send,
  type Tenant,
} from "./lab.ts";

const FILE_BYTES = 1_048_576;
/** R2 takes one write a second to a key. */
const PUT_PAUSE_MS = 1_200;
const POLL_MS = 500;

/**
 * D1 and the objects of an organization, a key, a channel and a chat work: what is written is read again.
 * @param onTenant gets the organization as soon as other steps can use it
 */
export async function organizationStep(
  lab: Lab,
  place: SmokePlace,
  onTenant: (tenant: Tenant) => void,
): Promise<string> {
  const tenant = await newTenant(lab, place);
  const { id, chatId } = tenant;
  const letter = place === null ? "g" : place[0];
  check(id.startsWith(`org_${letter}`), `the organization's id says another jurisdiction: ${printable(id)}`);
  const message = await send(tenant, "Hello");
  onTenant(tenant);
  const path = `/chats/${chatId}/messages`;
  const list = wanted(200, await tenant.ask<{ messages?: ApiSchemas["Message"][] }>("GET", path));
  check(list.body.messages?.[0]?.id === message.id, "a message that was sent is not on the list");
  const tag = list.headers.get("ETag");
  check(tag !== null, "the list has no ETag", "a rule of the zone must not remove headers");
  const again = await tenant.ask("GET", path, { headers: { "If-None-Match": tag } });
  const rule = "a rule of the zone must not change bodies or ETags";
  check(again.status === 304, `the same list again answered ${again.status} and not 304`, rule);
  return "a key, a channel, a chat and a message are written and read; an unchanged list is a 304";
}

/** The clock of the Worker. @throws SmokeFault */
export async function clockStep(tenant: Tenant): Promise<string> {
  const body = { content: "What time is it?" };
  const reply = wanted(201, await tenant.ask<OneMessage>("POST", `/chats/${tenant.chatId}/messages`, { body }));
  const fault = clockFault(reply.body.message, reply, Date.now());
  if (fault) throw new SmokeFault(fault, "times, schedules and limits are wrong until the clocks agree");
  return "the service's time is this machine's";
}

/** A key's object counts its requests and knows at once that it was revoked. */
export async function keyStep(lab: Lab, { id }: Tenant): Promise<string> {
  const limited = { name: "Two", rateLimit: { limit: 2, windowSeconds: 60 } };
  const { secret } = await operate<NewKey>(lab, 201, "POST", `/organizations/${id}/keys`, limited);
  const call = () => lab.caller.ask("GET", "/api/v1/key", { token: secret });
  const [first, second, third] = [await call(), await call(), await call()];
  check(
    first.status === 200 && second.status === 200,
    `a key's first two requests got ${first.status} and ${second.status}`,
  );
  check(third.status === 429, `the third of two requests got ${third.status} and not 429`);
  for (const name of ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "Retry-After"]) {
    check(third.headers.has(name), `the 429 lacks ${name}`, "a rule of the zone must not remove headers");
  }
  // Not the key over its limit: that may be refused for this for a second longer.
  const other = await operate<NewKey>(lab, 201, "POST", `/organizations/${id}/keys`, { name: "Revoked" });
  const admitted = await lab.caller.ask("GET", "/api/v1/key", { token: other.secret });
  check(admitted.status === 200, `a new key got ${admitted.status}`);
  await operate(lab, 200, "DELETE", `/keys/${other.key.id}`);
  const revoked = await lab.caller.ask("GET", "/api/v1/key", { token: other.secret });
  check(isRefused(revoked), `a revoked key got ${revoked.status} at its next request and not 401`);
  return "the third of two requests is refused, and a revoked key at its next one";
}

/** A file goes to the bucket and back, in part too; an upload that is repeated changes nothing; a redacted one is gone. */
export async function filesStep(lab: Lab, tenant: Tenant): Promise<string> {
  const { chatId } = tenant;
  const bytes = randomBytes(FILE_BYTES);
  const path = `/chats/${chatId}/media?fileName=smoke.bin`;
  const headers = { "Idempotency-Key": "file", "Content-Type": "application/octet-stream" };
  const { media } = await tenant.want<OneFile>(201, "POST", path, { headers, body: bytes });
  lab.withFiles.add(tenant.id);
  const replay = wanted(201, await tenant.ask<Partial<OneFile>>("POST", path, { headers, body: bytes }));
  check(replay.body.media?.id === media.id, "an upload that was repeated with its Idempotency-Key made another file");
  const message = await send(tenant, "A file", { mediaId: media.id });
  const file = `/chats/${chatId}/messages/${message.id}/media`;
  const part = await tenant.ask("GET", file, { headers: { Range: "bytes=1000-1999" } });
  wanted(206, part);
  check(
    Buffer.from(part.bytes).equals(bytes.subarray(1_000, 2_000)),
    "a part of a file has other bytes than were uploaded",
  );
  const head = wanted(200, await tenant.ask("HEAD", file));
  const length = head.headers.get("Content-Length");
  check(length === String(FILE_BYTES), `HEAD says that the file has ${length} bytes and not ${FILE_BYTES}`);
  const whole = wanted(200, await tenant.ask("GET", file));
  check(Buffer.from(whole.bytes).equals(bytes), "a file has other bytes than were uploaded");
  await overwrite(lab.caller, tenant);
  await operate(lab, 200, "POST", `/chats/${chatId}/messages/${message.id}/redact`);
  const gone = await tenant.ask("GET", file);
  check(gone.status === 404, `the file of a redacted message answered ${gone.status} and not 404`);
  return "1 MiB is stored, read in part, never overwritten, and gone when it is redacted";
}

/** An upload is half done when the same one comes with other bytes: the bucket must keep the bytes that came first. */
async function overwrite(caller: SmokeCaller, tenant: Tenant): Promise<void> {
  const { chatId, key } = tenant;
  const path = `/chats/${chatId}/media?fileName=twice.bin`;
  const headers = { "Idempotency-Key": "twice", "Content-Type": "application/octet-stream" };
  const [slow, quick] = [randomBytes(65_536), randomBytes(65_536)];
  const upload = slowUpload(caller, `/api/v1${path}`, { ...headers, Authorization: `Bearer ${key}` }, slow);
  await delay(POLL_MS, undefined, { signal: caller.signal });
  const reply = await tenant.ask<OneFile>("POST", path, { headers, body: quick });
  await delay(PUT_PAUSE_MS, undefined, { signal: caller.signal });
  const status = await upload.finish();
  // Where the front collects a body before it passes it on, the slow one comes second.
  const stored = reply.status === 201 ? quick : slow;
  check(
    [reply.status, status].toSorted((one, other) => one - other).join() === "201,422",
    `of two uploads with one Idempotency-Key and other bytes, the answers were ${reply.status} and ${status}, not 201 and 422`,
  );
  if (reply.status !== 201) return;
  const message = await send(tenant, "Twice", { mediaId: reply.body.media.id });
  const { bytes } = await tenant.ask("GET", `/chats/${chatId}/messages/${message.id}/media`);
  check(Buffer.from(bytes).equals(stored), "an upload overwrote the bytes of another one");
}

/** An upload of which the second half is sent later. `fetch` can't say a length and send in parts. */
function slowUpload(caller: SmokeCaller, path: string, headers: Record<string, string>, bytes: Uint8Array) {
  const url = new URL(path, caller.base);
  const send = url.protocol === "https:" ? httpsRequest : httpRequest;
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  promise.catch(() => {});
  const options = {
    method: "POST",
    signal: caller.signal,
    headers: { ...headers, "Content-Length": bytes.byteLength },
  };
  const request = send(url.href, options, (response) => {
    response.resume();
    resolve(response.statusCode ?? 0);
  });
  request.on("error", () => reject(new SmokeFault("an upload was cut off")));
  request.setTimeout(30_000, () => request.destroy());
  const half = bytes.byteLength / 2;
  request.write(bytes.subarray(0, half));
  return {
    finish(): Promise<number> {
      request.end(bytes.subarray(half));
      return promise;
    },
  };
}

/** An object's alarm rings: a scheduled message is sent at its time. */
export async function alarmStep({ pace, caller }: Lab, { want, channelId }: Tenant): Promise<string> {
  // A chat of its own: each send to a chat also sends what is due there, and hides an alarm that does not ring.
  const { chat } = await want<{ chat: { id: string } }>(201, "POST", "/chats", {
    body: { channelId, contact: { address: "smoke-alarm" } },
  });
  const { id, at, ahead } = await schedule({ want, chatId: chat.id }, pace.ahead);
  const begun = performance.now();
  for (;;) {
    await delay(POLL_MS, undefined, { signal: caller.signal });
    const { message } = await want<OneMessage>(200, "GET", `/chats/${chat.id}/messages/${id}`);
    if (message.status !== "SCHEDULED" && message.status !== "QUEUED") {
      check(message.status !== "FAILED", `a scheduled message became ${printable(message.status)}`);
      const late = Date.parse(message.sentAt ?? message.updatedAt) - at;
      check(late >= 0, `a scheduled message was sent ${-late} ms before its time`);
      return `a message scheduled ${ahead / 1_000} s ahead was sent ${(late / 1_000).toFixed(1)} s after its time`;
    }
    check(
      performance.now() - begun < ahead + pace.patience.due,
      `a message scheduled ${ahead / 1_000} s ahead is still ${message.status} ${pace.patience.due / 1_000} s after its time: no alarm rang`,
    );
  }
}

/**
 * Schedules a message: further ahead each time that it came to the service after its time, and was sent at once.
 * @returns its id, its time and how far that was ahead, in milliseconds
 */
async function schedule(chat: Pick<Tenant, "want" | "chatId">, firstAhead: number) {
  let last = await send(chat, "Before the alarm");
  for (let ahead = firstAhead; ahead <= 8 * firstAhead; ahead *= 2) {
    // By the service's clock: a wrong one is another step's.
    const at = Date.parse(last.createdAt) + ahead;
    last = await send(chat, "At its time", { scheduledAt: new Date(at).toISOString() });
    if (last.status === "SCHEDULED") return { id: last.id as string, at, ahead };
  }
  throw new SmokeFault(`a message scheduled ${(8 * firstAhead) / 1_000} s ahead was sent at once`);
}

/** The service calls a receiver outside. */
export async function webhookStep(lab: Lab, { id }: Tenant, url: string): Promise<string> {
  const { webhook } = await operate<{ webhook: { id: string } }>(lab, 201, "POST", `/organizations/${id}/webhooks`, {
    url,
  });
  const { attempt } = await operate<{ attempt: ApiSchemas["WebhookAttempt"] }>(
    lab,
    200,
    "POST",
    `/webhooks/${webhook.id}/ping`,
    {},
  );
  const { httpStatus, code } = attempt;
  const answer = httpStatus ?? code ?? "nothing";
  const isGood = typeof httpStatus === "number" && httpStatus >= 200 && httpStatus < 300;
  const advice = "check the URL and the receiver's log";
  check(isGood, `the receiver of the webhook answered ${printable(String(answer))}`, advice);
  return `the receiver answered ${httpStatus}`;
}

/**
 * What was created is deleted, and a key of it gets nothing. Only the service can see the bucket: it answers a deletion
 * only when R2 lists no file of the organization's chats.
 */
export async function deletionStep(lab: Lab, tenants: Tenant[]): Promise<string> {
  const { caller, leftovers, token, withFiles } = lab;
  for (const { id, key, chatId } of tenants) {
    await leftovers.delete(id);
    const organization = await caller.ask("GET", `/admin/v1/organizations/${id}`, { token: token.value });
    check(organization.status === 404, `a deleted organization answered ${organization.status} and not 404`);
    const chat = await caller.ask("GET", `/api/v1/chats/${chatId}`, { token: key });
    check(isRefused(chat), `the key of a deleted organization got ${chat.status} and not 401`);
  }
  const gone = tenants.length === 1 ? "the organization is gone" : `${tenants.length} organizations are gone`;
  return withFiles.size === 0 ? gone : `${gone}; before its answer, the service found none of their files in R2`;
}
