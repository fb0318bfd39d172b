import { expect, test } from "vitest";
import { webhookChecks } from "../../src/cli/parley/doctor/webhook-checks.ts";
import { Service } from "../../src/cli/parley/service.ts";
import { ADMIN_TOKEN, fakeService } from "./fake-service.ts";

const NOW = Date.UTC(2026, 10, 20, 12);
const GOOD = {
  id: "whk_g1",
  url: "https://shop.example/hook",
  state: "ok",
  reason: null,
  since: "2026-11-20T10:00:00.000Z",
  disablesAt: null,
  failed: 0,
};

/** What doctor says of a webhook, at a service on this machine or elsewhere. */
async function checksOf(webhook: object, isHere = false) {
  const { url, asked } = await fakeService({ webhooks: [{ ...GOOD, ...webhook }] });
  const adminToken = { value: ADMIN_TOKEN, from: "test" };
  const service = new Service({ root: "", url, urlFrom: "test", isHere, adminToken, apiKey: null });
  const checks = await webhookChecks(service, "org_g1", NOW);
  expect(asked[0]?.path).toBe("/admin/v1/organizations/org_g1/webhooks");
  return checks.map(({ what, state, found, advice }) => `${state} ${what}: ${found}. ${advice ?? ""}`.trim());
}

const ATTEMPTS = "parley webhooks attempts whk_g1 shows the answers";

test.for([
  [{}, "ok webhook whk_g1: works; last change 2 hr. ago."],
  [{ state: "trial" }, "warns webhook whk_g1: no call has succeeded yet. parley webhooks ping whk_g1 tries one"],
  [
    { state: "failing", disablesAt: "2026-11-23T12:00:00.000Z" },
    `fails webhook whk_g1: has been failing since 2026-11-20 10:00 UTC, and will be disabled in 3 days. ${ATTEMPTS}`,
  ],
  [
    { state: "disabled", reason: "gone" },
    `fails webhook whk_g1: was disabled 2 hr. ago: the receiver answered 410. parley webhooks enable whk_g1; ${ATTEMPTS}`,
  ],
  [
    { state: "disabled", reason: "failing" },
    `fails webhook whk_g1: was disabled 2 hr. ago: no call succeeded for five days. parley webhooks enable whk_g1; ${ATTEMPTS}`,
  ],
  [
    { state: "disabled", reason: "customer" },
    `warns webhook whk_g1: was disabled 2 hr. ago: the organization disabled it. parley webhooks enable whk_g1; ${ATTEMPTS}`,
  ],
  [
    { url: "http://localhost:3000/hook" },
    "fails webhook whk_g1: its address must begin with https://. parley webhooks change whk_g1 --url <address>",
  ],
] as const)("of the webhook %j doctor says: %s", async ([webhook, line]) => {
  expect(await checksOf(webhook)).toEqual([line]);
});

test("a local service may call its own machine", async () => {
  const [line] = await checksOf({ url: "http://localhost:3000/hook" }, true);
  expect(line).toMatch(/^ok /);
});

test("events that were given up are a warning, with the command that replays them", async () => {
  expect((await checksOf({ failed: 7 }))[1]).toBe(
    "warns events of whk_g1: 7 given up. parley webhooks replay whk_g1 --failed, once its receiver works",
  );
});

test("a webhook that points to the service itself is a fault", async () => {
  const { url } = await fakeService({});
  const service = new Service({
    root: "",
    url,
    urlFrom: "test",
    isHere: false,
    adminToken: { value: ADMIN_TOKEN, from: "test" },
    apiKey: null,
  });
  service.asOperator = async () => ({
    status: 200,
    body: { webhooks: [{ ...GOOD, url: `${url}/hooks` }] },
    headers: new Headers(),
  });
  const [check] = await webhookChecks(service, "org_g1", NOW);
  expect(check).toMatchObject({ state: "fails", found: "its address must not be an address of this service" });
});
