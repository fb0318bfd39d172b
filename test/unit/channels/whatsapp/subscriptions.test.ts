import { expect, test } from "vitest";
import { inspectNumber } from "../../../../src/channels/whatsapp/inspect.ts";
import { FIELDS, registerWhatsAppWebhook } from "../../../../src/channels/whatsapp/subscriptions.ts";
import { connectionLost, fakeNetwork, type Reply } from "../fake-network.ts";
import { APP_SECRET, credentials, network, PHONE_ID, refused, TOKEN } from "./network.ts";

const URL = "https://parley.example/hooks/whatsapp/chn_g0123456789ABCDE";
const APP = "634974688087057";
const WABA = "102290129340398";
const json =
  (body: object): Reply =>
  () =>
    Response.json(body);

const entities = [
  { entity_type: "PHONE_NUMBER", id: PHONE_ID, can_send_message: "AVAILABLE" },
  { entity_type: "WABA", id: WABA, can_send_message: "AVAILABLE" },
  { entity_type: "APP", id: APP, can_send_message: "AVAILABLE" },
];
const number = json({ id: PHONE_ID, health_status: { can_send_message: "AVAILABLE", entities } });
const subscribedTo = (fields: unknown[]) =>
  json({
    data: [
      { object: "page", callback_url: URL, active: true, fields: [{ name: "feed", version: "v24.0" }] },
      { object: "whatsapp_business_account", callback_url: URL, active: true, fields },
    ],
  });
const apps = (...ids: string[]) =>
  json({ data: ids.map((id) => ({ whatsapp_business_api_data: { id, link: "https://a.example", name: "A" } })) });
const all = FIELDS.map((name) => ({ name, version: "v24.0" }));
/** Meta's answers about an app and an account, which are asked in any order. */
function fakeSubscriptions(ofApp: Reply, ofAccount: Reply) {
  const either: Reply = (signal, url) => (url.includes("/subscriptions") ? ofApp : ofAccount)(signal, url);
  const sent = fakeNetwork(number, either, either);
  return { asked: (path: string) => sent.filter(({ url }) => url === `https://graph.test/v24.0/${path}`) };
}

const register = () => registerWhatsAppWebhook(URL, "verify-token", credentials, network);

test.each<[string, Reply, string[] | undefined]>([
  ["to all", subscribedTo(all), []],
  ["to messages alone, as earlier versions name it", subscribedTo(["messages"]), FIELDS.slice(1)],
  ["to nothing of WhatsApp", json({ data: [] }), [...FIELDS]],
  ["to what Meta does not tell", refused(190, { status: 401 }), undefined],
  ["to what no answer tells", () => Promise.reject(connectionLost()), undefined],
])("an app that is subscribed %s lacks the rest", async (_, reply, unsent) => {
  const { asked } = fakeSubscriptions(reply, apps(APP));
  const inspection = await inspectNumber(credentials, network);
  expect(inspection).toMatchObject({ answer: "accepted", news: { state: "available" } });
  expect(inspection.answer === "accepted" && inspection.unsent).toEqual(unsent);
  expect(asked(`${APP}/subscriptions`)).toMatchObject([{ headers: { authorization: `Bearer ${APP}|${APP_SECRET}` } }]);
});

const SILENCE = "the WhatsApp Business account is not subscribed to the app";

test.each<[string, Reply, string | undefined]>([
  ["subscribed to the app", apps("1", APP), undefined],
  ["subscribed to another app", apps("1"), SILENCE],
  ["subscribed to none", apps(), SILENCE],
  ["subscribed to more apps than a page has", apps(...Array<string>(25).fill("1")), undefined],
  ["of which Meta tells nothing", refused(200, { status: 403 }), undefined],
  ["of which no answer tells", () => Promise.reject(connectionLost()), undefined],
  ["of which Meta tells something else", json({ data: [{ id: APP }] }), undefined],
])("an account that is %s reports all or nothing", async (_, reply, silence) => {
  const { asked } = fakeSubscriptions(subscribedTo(all), reply);
  const inspection = await inspectNumber(credentials, network);
  expect(inspection).toMatchObject({ answer: "accepted", unsent: [] });
  expect(inspection.answer === "accepted" && inspection.silence).toBe(silence);
  expect(asked(`${WABA}/subscribed_apps`)).toMatchObject([{ headers: { authorization: `Bearer ${TOKEN}` } }]);
});

test("a number whose app Meta does not name is asked for nothing more", async () => {
  const sent = fakeNetwork(json({ id: PHONE_ID }));
  expect(await inspectNumber(credentials, network)).not.toHaveProperty("unsent");
  expect(sent).toHaveLength(1);
});

test("a registration subscribes the app to all fields beside its own, and the account to the app", async () => {
  const sent = fakeNetwork(
    number,
    subscribedTo([{ name: "flows" }, 7]),
    json({ success: true }),
    json({ success: true }),
  );
  const description = `The app is subscribed to ${FIELDS.length} fields, and the account to the app`;
  expect(await register()).toEqual({ ok: true, code: null, description });
  expect(sent.map(({ method = "GET", url }) => `${method} ${url.replace("https://graph.test/v24.0/", "")}`)).toEqual([
    `GET ${PHONE_ID}?fields=health_status`,
    `GET ${APP}/subscriptions`,
    `POST ${APP}/subscriptions`,
    `POST ${WABA}/subscribed_apps`,
  ]);
  expect(sent[2]?.body).toEqual({
    object: "whatsapp_business_account",
    callback_url: URL,
    verify_token: "verify-token",
    fields: ["flows", ...FIELDS].join(),
  });
  expect(sent.map(({ headers }) => headers.authorization)).toEqual(
    [TOKEN, `${APP}|${APP_SECRET}`, `${APP}|${APP_SECRET}`, TOKEN].map((token) => `Bearer ${token}`),
  );
});

test.each<[string, Reply[], object]>([
  ["the token", [refused(190, { message: `Bad ${TOKEN}` })], { code: 190, description: "Bad [token]" }],
  [
    "the address",
    [number, subscribedTo(all), refused(2200, { message: `Callback verification failed ${APP}|${APP_SECRET}` })],
    { code: 2200, description: "Callback verification failed [token]" },
  ],
  ["to name the app", [json({ id: PHONE_ID })], { code: null, description: expect.stringContaining("which app") }],
  ["in HTML", [() => new Response("<html>", { status: 502 })], { code: null }],
  ["to answer", [() => Promise.reject(connectionLost())], { code: null, description: "The connection to Meta failed" }],
])("if Meta refuses %s, the answer says so, without a secret", async (_, replies, answer) => {
  fakeNetwork(...replies);
  const registration = await register();
  expect(registration).toMatchObject({ ok: false, ...answer });
  expect(JSON.stringify(registration)).not.toMatch(new RegExp(`${TOKEN}|${APP_SECRET}`));
});
