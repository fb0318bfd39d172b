import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { verifyWebhook } from "../../../src/client/verify-webhook.ts";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const OTHER = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
const BODY = '{"id":"evt_g1","type":"message.received","data":{"text":"Grüße 🎉"}}';
const NOW = Date.UTC(2026, 10, 20, 10);

/** The headers of a call, signed by the package of Standard Webhooks. */
function signed({ at = NOW, secrets = [SECRET], body = BODY } = {}) {
  const time = new Date(at);
  return {
    "webhook-id": "evt_g1",
    "webhook-timestamp": String(Math.floor(at / 1_000)),
    "webhook-signature": secrets.map((secret) => new Webhook(secret).sign("evt_g1", time, body)).join(" "),
  };
}

const verify = (headers: Parameters<typeof verifyWebhook>[0], body: string | Uint8Array = BODY, secret = SECRET) =>
  verifyWebhook(headers, body, secret, NOW);

test("a call that the package of Standard Webhooks signed is verified, and its event returned", async () => {
  const event = JSON.parse(BODY);
  expect(await verify(signed())).toEqual(event);
  expect(await verify(new Headers(signed()))).toEqual(event);
  expect(await verify(signed(), new TextEncoder().encode(BODY))).toEqual(event);
  expect(await verifyWebhook(signed(), new TextEncoder().encode(BODY).buffer as ArrayBuffer, SECRET, NOW)).toEqual(
    event,
  );
  expect(await verify(signed(), BODY, SECRET.replace("whsec_", ""))).toEqual(event);
});

test("the specification's own example is verified", async () => {
  // https://github.com/standard-webhooks/standard-webhooks, the test vector of its libraries.
  const headers = {
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  };
  const event = await verifyWebhook(headers, '{"test": 2432232314}', SECRET, 1_614_265_330_000);
  expect(event).toEqual({ test: 2_432_232_314 });
});

test("headers of Node's server are accepted, in any case", async () => {
  const headers = Object.fromEntries(Object.entries(signed()).map(([name, value]) => [name.toUpperCase(), [value]]));
  expect(await verify(headers)).toEqual(JSON.parse(BODY));
});

test("during a rotation, either of two signatures is enough", async () => {
  const headers = signed({ secrets: [OTHER, SECRET] });
  expect(await verify(headers)).toEqual(JSON.parse(BODY));
  expect(await verify(headers, BODY, OTHER)).toEqual(JSON.parse(BODY));
});

test("signatures of other versions and malformed ones are passed over", async () => {
  const headers = signed();
  const [, signature = ""] = headers["webhook-signature"].split(",");
  const others = `v1a,${signature} v1 v1,! v1,${signature.slice(0, -4)}`;
  expect(await verify({ ...headers, "webhook-signature": `${others} v1,${signature}` })).toEqual(JSON.parse(BODY));
  await expect(verify({ ...headers, "webhook-signature": others })).rejects.toMatchObject({
    code: "signature_mismatch",
  });
});

test.for([-300, 300])("a call %i seconds from now is still accepted", async (seconds) => {
  expect(await verify(signed({ at: NOW - seconds * 1_000 }))).toEqual(JSON.parse(BODY));
});

test.for([
  [301, "timestamp_too_old", "The call is 301 s old; the limit is 5 minutes."],
  [-301, "timestamp_too_new", "The call is 301 s in the future; the limit is 5 minutes."],
] as const)("a call that is %i seconds old is refused", async ([seconds, code, message]) => {
  const called = verify(signed({ at: NOW - seconds * 1_000 }));
  await expect(called).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
});

test.for(["webhook-id", "webhook-timestamp", "webhook-signature"])("a call without %s is refused", async (name) => {
  const without = new Headers(signed());
  without.delete(name);
  const message = `The header ${name} is missing. Are you passing all headers of the call?`;
  await expect(verify(without)).rejects.toMatchObject({ code: "missing_header", message });
  await expect(verify({ ...signed(), [name]: "" })).rejects.toMatchObject({ code: "missing_header", message });
});

test.for([
  ["another body", signed({ body: "{}" })],
  ["another id", { ...signed(), "webhook-id": "evt_g2" }],
  ["another time", { ...signed(), "webhook-timestamp": String(NOW / 1_000 + 1) }],
  ["another secret", signed({ secrets: [OTHER] })],
  ["no signature in it", { ...signed(), "webhook-signature": "v1," }],
] as const)("a signature for %s is refused", async ([, headers]) => {
  await expect(verify(headers)).rejects.toMatchObject({
    name: "WebhookVerificationError",
    code: "signature_mismatch",
  });
});

test.for(["", "whsec_", "whsec_c2hvcnQ=", "whsec_not base64!"])("the secret %j accepts nobody", async (secret) => {
  await expect(verify(signed(), BODY, secret)).rejects.toMatchObject({ code: "malformed_secret" });
});

test.for(["1e9", "-5", "2026-11-20T10:00:00Z"])("the timestamp %j is refused", async (text) => {
  const headers = { ...signed(), "webhook-timestamp": text };
  await expect(verify(headers)).rejects.toMatchObject({ code: "malformed_timestamp" });
});

test("a signed body that is not JSON is refused", async () => {
  const body = "no JSON";
  await expect(verify(signed({ body }), body)).rejects.toMatchObject({ code: "malformed_body" });
});
