import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { callOrganization } from "../../../src/calls/call-organization.ts";
import { UPDATES } from "../../../src/channels/telegram/register.ts";
import { FIELDS } from "../../../src/channels/whatsapp/subscriptions.ts";
import { admin, client, expectError, newChannel, newKey, newOrganization } from "../../support/harness.ts";
import { fakeNetworks, lost, refuse, type Script } from "../../support/networks.ts";

type Kind = "telegram" | "whatsapp";

/** The checks of a new channel whose network answers with `script`, as `name state`, and all of their texts. */
async function checksOf(kind: Kind, script: Script) {
  const { organizationId } = await newOrganization();
  const id = await newChannel(organizationId, kind);
  const calls = fakeNetworks(script);
  const answer = await admin("POST", `/channels/${id}/check`);
  expect(answer.status).toBe(200);
  return { id, calls, ...shortened(answer.body.checks) };
}

function shortened(checks: { name: string; state: string; found: string; advice: string | null }[]) {
  return { states: checks.map(({ name, state }) => `${name} ${state}`), checks };
}

/** What each network answers if the webhook points to `url`. */
const pointing: Record<Kind, (url: string) => Script> = {
  telegram: (url) => () => Response.json({ ok: true, result: { url, allowed_updates: UPDATES } }),
  whatsapp: (url) => () => Response.json({ id: "1", ...(url && { webhook_configuration: { application: url } }) }),
};
const KINDS: Kind[] = ["telegram", "whatsapp"];

test.each(KINDS)("a %s channel whose webhook points here has nothing to do", async (kind) => {
  const { organizationId } = await newOrganization();
  const id = await newChannel(organizationId, kind);
  const calls = fakeNetworks(pointing[kind](`https://parley.test/hooks/${kind}/${id}`));
  const { checks } = (await admin("POST", `/channels/${id}/check`)).body;
  expect(shortened(checks).states).toEqual(["credentials ok", "webhook ok", "network ok"]);
  expect(checks.map((check: { advice: string | null }) => check.advice)).toEqual([null, null, null]);
  expect(calls).toHaveLength(1);
});

test.each(KINDS)("without a webhook, the check of a %s channel says how to set it", async (kind) => {
  const { states, checks } = await checksOf(kind, pointing[kind](""));
  expect(states).toEqual(["credentials ok", "webhook fails", "network ok"]);
  expect(checks[1]?.advice).toBe(
    kind === "telegram"
      ? "Register the webhook"
      : "Register the webhook, or enter the webhook's URL and verify token at the network",
  );
});

test("a bot that was registered before the service read taps and edits is to be registered again", async () => {
  const { organizationId } = await newOrganization();
  const id = await newChannel(organizationId, "telegram");
  const url = `https://parley.test/hooks/telegram/${id}`;
  fakeNetworks(() => Response.json({ ok: true, result: { url, allowed_updates: ["message", "message_reaction"] } }));
  const { checks } = (await admin("POST", `/channels/${id}/check`)).body;
  const [missing, advice] = ["edited_message, callback_query, my_chat_member", "Register the webhook"];
  const found = `The webhook points to this service, but was registered without ${missing}`;
  expect(checks[1]).toEqual({ name: "webhook", state: "warns", found, advice });
});

test("a WhatsApp account that is not subscribed to the app reports nothing, and the check says what to do", async () => {
  const { organizationId } = await newOrganization();
  const id = await newChannel(organizationId, "whatsapp");
  const application = `https://parley.test/hooks/whatsapp/${id}`;
  const entities = [
    { entity_type: "APP", id: "77" },
    { entity_type: "WABA", id: "88" },
  ];
  const health_status = { can_send_message: "AVAILABLE", entities };
  fakeNetworks(({ url }) => {
    if (url.includes("/88/subscribed_apps")) return Response.json({ data: [] });
    if (url.includes("/77/subscriptions"))
      return Response.json({ data: [{ object: "whatsapp_business_account", fields: FIELDS }] });
    return Response.json({ id: "1", webhook_configuration: { application }, health_status });
  });
  const { checks } = (await admin("POST", `/channels/${id}/check`)).body;
  const found =
    "The webhook points to this service, but the WhatsApp Business account is not subscribed to the app, so nothing arrives";
  expect(checks[1]).toEqual({ name: "webhook", state: "fails", found, advice: "Register the webhook" });
});

test.each([
  [["messages", "standby"], "warns"],
  [["standby"], "fails"],
])(
  "a WhatsApp app that is subscribed to %j lacks fields, and the check says which and where to click",
  async (fields, state) => {
    const { organizationId } = await newOrganization();
    const id = await newChannel(organizationId, "whatsapp");
    const application = `https://parley.test/hooks/whatsapp/${id}`;
    const health_status = { can_send_message: "AVAILABLE", entities: [{ entity_type: "APP", id: "77" }] };
    fakeNetworks(({ url }) =>
      url.includes("/77/subscriptions")
        ? Response.json({ data: [{ object: "whatsapp_business_account", fields }] })
        : Response.json({ id: "1", webhook_configuration: { application }, health_status }),
    );
    const { checks } = (await admin("POST", `/channels/${id}/check`)).body;
    const missing = FIELDS.filter((field) => !fields.includes(field)).join(", ");
    expect(checks[1]).toEqual({
      name: "webhook",
      state,
      found: `The webhook points to this service, but was registered without ${missing}`,
      advice:
        "In your app at Meta, open WhatsApp → Configuration → Webhook fields and subscribe to them, or register the webhook",
    });
  },
);

test("of a webhook elsewhere only the origin is told, because its path may be a secret", async () => {
  const { checks } = await checksOf("telegram", pointing.telegram("https://old.example/hooks/s3cret"));
  expect(checks[1]).toMatchObject({ state: "fails", found: "The webhook points elsewhere, to https://old.example" });
});

test.each(KINDS)("refused credentials of a %s channel leave the webhook unknown", async (kind) => {
  const { states, checks } = await checksOf(
    kind,
    refuse(kind === "telegram" ? 401 : 190, "Bad token", { status: 401 }),
  );
  expect(states).toEqual(["credentials fails", "webhook unknown", "network ok"]);
  expect(checks[0]).toMatchObject({
    found: "The network refuses the credentials: Bad token",
    advice: "Replace the credentials",
  });
});

test.each(KINDS)("a %s network that does not answer leaves everything unknown", async (kind) => {
  const { states } = await checksOf(kind, lost);
  expect(states).toEqual(["credentials unknown", "webhook unknown", "network unknown"]);
});

test("a broken channel says why the network refuses it, even if the network responds", async () => {
  const { organizationId } = await newOrganization();
  const id = await newChannel(organizationId, "telegram");
  const since = Date.now();
  await callOrganization(env, organizationId, (organization) =>
    organization.reportHealth(organizationId, id, {
      number: 1,
      state: "broken",
      reason: "The account is blocked",
      since,
      probeAt: null,
    }),
  );
  fakeNetworks(pointing.telegram(`https://parley.test/hooks/telegram/${id}`));
  const { checks } = (await admin("POST", `/channels/${id}/check`)).body;
  expect(checks[2]).toMatchObject({
    name: "network",
    state: "fails",
    found: "The network refuses the channel: The account is blocked",
  });
});

test("secrets that can't be decrypted are found before the network is asked", async () => {
  const { organizationId, channelId } = await newOrganization();
  const id = await newChannel(organizationId, "telegram");
  const calls = fakeNetworks();
  const bindings = { ...env, CREDENTIALS_KEY: btoa("x".repeat(32)) };
  const telegram = shortened((await admin("POST", `/channels/${id}/check`, undefined, bindings)).body.checks);
  expect(telegram.states).toEqual(["credentials fails", "webhook unknown", "network unknown"]);
  expect(telegram.checks[0]?.advice).toContain("Enter all credentials again");
  const web = shortened((await admin("POST", `/channels/${channelId}/check`, undefined, bindings)).body.checks);
  expect(web.states).toEqual(["credentials fails"]);
  expect(calls).toEqual([]);
});

test("a web channel needs no network", async () => {
  const { channelId } = await newOrganization();
  const { states } = shortened((await admin("POST", `/channels/${channelId}/check`)).body.checks);
  expect(states).toEqual(["credentials ok"]);
});

test("a channel of another organization is not found, and its network is not asked", async () => {
  const [ours, theirs] = [await newOrganization(), await newOrganization()];
  const { secret } = await newKey(ours.organizationId, { permissions: ["channels:read", "channels:write"] });
  const id = await newChannel(theirs.organizationId, "telegram");
  const calls = fakeNetworks();
  expectError(await client(secret)("POST", `/channels/${id}/check`), 404, "channel_not_found");
  expect(calls).toEqual([]);
});
