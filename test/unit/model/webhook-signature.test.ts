import { Webhook, WebhookVerificationError } from "standardwebhooks";
import { expect, test } from "vitest";
import { newWebhookSecret, signatureHeaders } from "../../../src/model/webhook-signature.ts";

const ID = "evt_gT2sYbQ0aLw9XcRk00ABCDEF7";
const BODY = '{"type":"message.received","data":{"text":"Grüße 👋"}}';

/** The headers of a call that begins now. */
const headersOf = (secrets: string[], body = BODY) => signatureHeaders(secrets, ID, Date.now(), body);

test("a signature is the one that the reference libraries of the standard expect", async () => {
  // The specification has no vector with a secret. Its libraries share this one:
  // https://github.com/standard-webhooks/standard-webhooks/blob/main/libraries/javascript/src/index.test.ts
  const headers = await signatureHeaders(
    ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
    "msg_p5jXN8AQM9LWM0D4loKWxJek",
    1_614_265_330_000,
    '{"test": 2432232314}',
  );
  expect(headers).toEqual({
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  });
});

test("a secret has 32 random bytes", () => {
  const [one, other] = [newWebhookSecret(), newWebhookSecret()];
  expect(one).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(Uint8Array.fromBase64(one.slice(6))).toHaveLength(32);
  expect(one).not.toBe(other);
});

test.each([1, 2])("with %d secrets, the standard's own package verifies a call with each of them", async (count) => {
  const secrets = Array.from({ length: count }, newWebhookSecret);
  const headers = await headersOf(secrets);
  expect(headers["webhook-signature"].split(" ")).toHaveLength(count);
  for (const secret of secrets) expect(new Webhook(secret).verify(BODY, headers)).toEqual(JSON.parse(BODY));
});

test("the time is in whole seconds, rounded down", async () => {
  const headers = await signatureHeaders([newWebhookSecret()], ID, 1_700_000_000_999, BODY);
  expect(headers["webhook-timestamp"]).toBe("1700000000");
});

type Headers = Awaited<ReturnType<typeof headersOf>>;

function without(headers: Headers, name: keyof Headers): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([each]) => each !== name));
}

test.each<[string, (headers: Headers) => [headers: Record<string, string>, body?: string]]>([
  ["another body", (headers) => [headers, BODY.replace("received", "created")]],
  ["one more space", (headers) => [headers, `${BODY} `]],
  ["another id", (headers) => [{ ...headers, "webhook-id": `${ID}8` }]],
  ["another time", (headers) => [{ ...headers, "webhook-timestamp": `${Number(headers["webhook-timestamp"]) + 1}` }]],
  ["no id", (headers) => [without(headers, "webhook-id")]],
  ["no time", (headers) => [without(headers, "webhook-timestamp")]],
  ["no signature", (headers) => [without(headers, "webhook-signature")]],
  [
    "another version",
    (headers) => [{ ...headers, "webhook-signature": headers["webhook-signature"].replace("v1", "v2") }],
  ],
  ["a cut signature", (headers) => [{ ...headers, "webhook-signature": headers["webhook-signature"].slice(0, -4) }]],
])("the standard's own package refuses a call with %s", async (_, change) => {
  const secret = newWebhookSecret();
  const [headers, body = BODY] = change(await headersOf([secret]));
  expect(() => new Webhook(secret).verify(body, headers)).toThrow(WebhookVerificationError);
});

test("the standard's own package refuses a call with another secret, and an old one", async () => {
  const secret = newWebhookSecret();
  const headers = await headersOf([secret]);
  expect(() => new Webhook(newWebhookSecret()).verify(BODY, headers)).toThrow("No matching signature found");
  const old = await signatureHeaders([secret], ID, Date.now() - 600_000, BODY);
  expect(() => new Webhook(secret).verify(BODY, old)).toThrow("Message timestamp too old");
});

test.each(["", "whsec_", "secret", "C2FVsBQIhrscChlQIMV+b5sSYspob7oD", "whsec_not base64!"])(
  "%j signs nothing",
  async (secret) => {
    await expect(headersOf([secret])).rejects.toThrow();
  },
);
