import { expect, test } from "vitest";
import { expectFaults } from "../../support/harness.ts";
import { newConfigurer } from "./configured.ts";

const urlOf = (path: string, host = "shop.test") => `https://${host}/hook${path}`;

test("all webhooks of a host together can make 500 calls per second and 200 at a time, as ten with the defaults do", async () => {
  const { api } = await newConfigurer();
  for (let hook = 0; hook < 10; hook++) {
    expect(await api("POST", "/webhooks", { url: urlOf(`?shop=${hook}`) })).toMatchObject({ status: 201 });
  }
  const { webhooks } = (await api("GET", "/webhooks")).body;
  const change = (index: number, patch: object) => api("PATCH", `/webhooks/${webhooks[index].id}`, patch);
  expectFaults(await change(0, { perSecond: 51 }), "perSecond");
  const refused = await change(0, { concurrency: 21 });
  expectFaults(refused, "concurrency");
  expect(refused.body.errors[0].message).toBe(
    "must be at most 20, because all webhooks of shop.test together can make 200 calls at a time",
  );
  expect(await change(0, { perSecond: 10, description: "Slow" })).toMatchObject({ status: 200 });
  expect(await change(1, { perSecond: 90 })).toMatchObject({ status: 200 });
});

test("another host, its subdomains and other organizations have a ceiling of their own", async () => {
  const [{ api }, other] = [await newConfigurer(), await newConfigurer()];
  const all = { perSecond: 500, concurrency: 200 };
  for (const host of ["shop.test", "eu.shop.test", "shop.test.example"]) {
    expect(await api("POST", "/webhooks", { url: urlOf("", host), ...all })).toMatchObject({ status: 201 });
  }
  expect(await other.api("POST", "/webhooks", { url: urlOf(""), ...all })).toMatchObject({ status: 201 });
  const refused = await api("POST", "/webhooks", { url: urlOf("/2") });
  expectFaults(refused, "perSecond");
  expect(refused.body.errors[0].message).toContain("has nothing left");
  const { webhooks } = (await api("GET", "/webhooks")).body;
  expectFaults(await api("PATCH", `/webhooks/${webhooks[1].id}`, { url: urlOf("/2") }), "perSecond");
  expect(await api("PATCH", `/webhooks/${webhooks[0].id}`, { url: urlOf("/2"), perSecond: 450 })).toMatchObject({
    status: 200,
    body: { webhook: { perSecond: 450 } },
  });
});

test("of requests at the same time, only as many succeed as fit below a host's ceiling", async () => {
  const { api } = await newConfigurer();
  const answers = await Promise.all(
    Array.from({ length: 5 }, (_, hook) => api("POST", "/webhooks", { url: urlOf(`/${hook}`), perSecond: 200 })),
  );
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 201, 400, 400, 400]);
  const [slow, fast] = (await api("GET", "/webhooks")).body.webhooks;
  const raised = await Promise.all([slow, fast].map(({ id }) => api("PATCH", `/webhooks/${id}`, { perSecond: 300 })));
  expect(raised.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 400]);
});
