import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { open, seal } from "../../../src/secrets/sealing.ts";
import { aroundQueries, OUTAGES, outageError } from "../../support/faults.ts";
import { admin, created, expectError, newChannel, newOrganization } from "../../support/harness.ts";

const bytesOf = (base64: string) => Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
const newSecret = () => btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(32))));
const keys = (current = env.CREDENTIALS_KEY) => ({ current: bytesOf(current), previous: undefined });

const CREDENTIALS = {
  phoneNumberId: "15550009876",
  accessToken: "canary-access-token",
  appSecret: "canary-app-secret",
};

type Row = Record<"credentials" | "verify_token" | "identity_secret" | "identity_previous", string>;

async function rowOf(id: string): Promise<Row & { identity_previous_until: number | null }> {
  const row = await env.DB.prepare("select * from channels where id = ?")
    .bind(id)
    .first<Row & { identity_previous_until: number }>();
  if (!row) throw new Error("no such channel");
  return row;
}

async function whatsapp() {
  const { organizationId } = await newOrganization();
  const body = { kind: "whatsapp", name: "W", credentials: CREDENTIALS };
  return created(await admin("POST", `/organizations/${organizationId}/channels`, body)).channel;
}

async function web() {
  const { organizationId } = await newOrganization();
  const { channel, identitySecret } = created(
    await admin("POST", `/organizations/${organizationId}/channels`, { kind: "web", name: "S" }),
  );
  return { id: channel.id as string, identitySecret: identitySecret as string };
}

test("the directory contains no credential, verify token or identity secret as plain text", async () => {
  const channel = await whatsapp();
  const site = await web();
  await admin("POST", `/channels/${site.id}/identity-secret`, { overlapSeconds: 60 });
  const rows = JSON.stringify([await rowOf(channel.id), await rowOf(site.id)]);
  for (const secret of [
    CREDENTIALS.accessToken,
    CREDENTIALS.appSecret,
    channel.webhook.verifyToken,
    site.identitySecret,
  ]) {
    expect(rows).not.toContain(secret);
    expect(rows).not.toContain(btoa(secret).slice(0, 12));
  }
});

test("a sealed text opens in its row and column with the current key, and has the given value", async () => {
  const { id, webhook } = await whatsapp();
  const row = await rowOf(id);
  expect(JSON.parse(await open(keys(), { id, column: "credentials" }, row.credentials))).toEqual(CREDENTIALS);
  expect(await open(keys(), { id, column: "verify_token" }, row.verify_token)).toBe(webhook.verifyToken);
  expect(bytesOf(row.credentials)[0]).toBe(1);
});

test("a sealed text that was moved to another row or column, cut or changed does not open", async () => {
  const { id } = await whatsapp();
  const sealed = (await rowOf(id)).credentials;
  const place = { id, column: "credentials" };
  await expect(open(keys(), { ...place, id: "chn_gaaaaaaaaaaaaaaa" }, sealed)).rejects.toThrow(
    /can be opened with neither/,
  );
  await expect(open(keys(), { ...place, column: "verify_token" }, sealed)).rejects.toThrow(
    /can be opened with neither/,
  );
  await expect(open(keys(newSecret()), place, sealed)).rejects.toThrow(/can be opened with neither/);
  const bytes = bytesOf(sealed);
  bytes[20] = (bytes[20] ?? 0) ^ 1;
  await expect(open(keys(), place, btoa(String.fromCharCode(...bytes)))).rejects.toThrow(/can be opened with neither/);
});

test("another channel's sealed text does not open in a row, and the log names the column", async () => {
  const mine = await whatsapp();
  const other = await whatsapp();
  const moved = (await rowOf(other.id)).verify_token;
  await env.DB.prepare("update channels set verify_token = ? where id = ?").bind(moved, mine.id).run();
  const errors = vi.spyOn(console, "error");
  const answer = await admin("GET", `/channels/${mine.id}`);
  expect(answer.body.channel.webhook.verifyToken, answer.text).toBeNull();
  expect(JSON.stringify(errors.mock.calls)).toContain(`verify_token of ${mine.id}`);
});

test("the same credentials are sealed differently each time", async () => {
  const [one, other] = [await whatsapp(), await whatsapp()];
  expect((await rowOf(one.id)).credentials).not.toBe((await rowOf(other.id)).credentials);
});

test("a response never has more of a credential than its last four characters", async () => {
  const { id, organizationId } = await whatsapp();
  const answers = [
    await admin("GET", `/channels/${id}`),
    await admin("GET", `/organizations/${organizationId}/channels`),
    await admin("PATCH", `/channels/${id}`, { credentials: { appSecret: "canary-new-secret" } }),
    await admin("DELETE", `/channels/${id}`),
  ];
  for (const { text } of answers) expect(text).not.toContain("canary");
});

test("a rotated identity secret is new, and without an overlap the old one is gone", async () => {
  const { id, identitySecret } = await web();
  const rotated = created(await admin("POST", `/channels/${id}/identity-secret`));
  expect(rotated).toEqual({ identitySecret: expect.stringMatching(/^[0-9A-Za-z]{32}$/) });
  expect(rotated.identitySecret).not.toBe(identitySecret);
  const row = await rowOf(id);
  expect(await open(keys(), { id, column: "identity_secret" }, row.identity_secret)).toBe(rotated.identitySecret);
  expect([row.identity_previous, row.identity_previous_until]).toEqual([null, null]);
});

test("during an overlap, only the last identity secret before the current one is stored", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
  const { id, identitySecret } = await web();
  const second = created(await admin("POST", `/channels/${id}/identity-secret`, { overlapSeconds: 90 })).identitySecret;
  const place = { id, column: "identity_previous" };
  let row = await rowOf(id);
  expect(await open(keys(), place, row.identity_previous)).toBe(identitySecret);
  expect(row.identity_previous_until).toBe(Date.now() + 90_000);
  await admin("POST", `/channels/${id}/identity-secret`, { overlapSeconds: 30 });
  row = await rowOf(id);
  expect(await open(keys(), place, row.identity_previous)).toBe(second);
  expect(row.identity_previous_until).toBe(Date.now() + 30_000);
});

test.each([{ overlapSeconds: -1 }, { overlapSeconds: 1.5 }, { overlapSeconds: "60" }, { overlapSeconds: 2_592_001 }])(
  "an identity secret with %j is 400 and does not change",
  async (body) => {
    const { id } = await web();
    const before = await rowOf(id);
    const answer = await admin("POST", `/channels/${id}/identity-secret`, body);
    expectError(answer, 400, "validation_failed");
    expect(answer.body.errors[0].path).toBe("overlapSeconds");
    expect(await rowOf(id)).toEqual(before);
  },
);

test("only a web channel has an identity secret", async () => {
  const { organizationId } = await newOrganization();
  const id = await newChannel(organizationId, "telegram");
  expectError(await admin("POST", `/channels/${id}/identity-secret`), 400, "validation_failed");
});

/** This file's channels are sealed with many keys, so a test of `reseal` begins without channels. */
const withoutChannels = () => env.DB.prepare("delete from channels").run();

test("after a reseal everything opens without the previous key, and has its previous value", async () => {
  await withoutChannels();
  const channel = await whatsapp();
  const site = await web();
  const rotated = { CREDENTIALS_KEY: newSecret(), CREDENTIALS_KEY_PREVIOUS: env.CREDENTIALS_KEY };
  const second = created(
    await admin("POST", `/channels/${site.id}/identity-secret`, { overlapSeconds: 60 }),
  ).identitySecret;
  expect((await admin("GET", `/channels/${channel.id}`, undefined, rotated)).body).toEqual({ channel });

  const answer = await admin("POST", "/reseal", undefined, rotated);

  // Each organization was created with a web channel.
  expect([answer.status, answer.body]).toEqual([200, { resealed: 4, unreadable: [] }]);
  const alone = { CREDENTIALS_KEY: rotated.CREDENTIALS_KEY };
  expect((await admin("GET", `/channels/${channel.id}`, undefined, alone)).body).toEqual({ channel });
  expect((await admin("GET", `/channels/${channel.id}`)).body.channel.webhook.verifyToken).toBeNull();
  const [row, ofSite] = [await rowOf(channel.id), await rowOf(site.id)];
  const under = keys(rotated.CREDENTIALS_KEY);
  expect(JSON.parse(await open(under, { id: channel.id, column: "credentials" }, row.credentials))).toEqual(
    CREDENTIALS,
  );
  expect(await open(under, { id: site.id, column: "identity_secret" }, ofSite.identity_secret)).toBe(second);
  expect(await open(under, { id: site.id, column: "identity_previous" }, ofSite.identity_previous)).toBe(
    site.identitySecret,
  );
});

test.each(OUTAGES)("a reseal that failed halfway (%s error) can be repeated, more than once", async (outage) => {
  await withoutChannels();
  const { organizationId } = await newOrganization();
  const ids = await Promise.all([1, 2, 3, 4].map(() => newChannel(organizationId, "telegram")));
  const rotated = { CREDENTIALS_KEY: newSecret(), CREDENTIALS_KEY_PREVIOUS: env.CREDENTIALS_KEY };
  aroundQueries((query, run) => (query > 3 ? Promise.reject(outageError(outage)) : run()));
  expectError(await admin("POST", "/reseal", undefined, rotated), 503, "unavailable");
  vi.restoreAllMocks();
  for (const _ of [1, 2]) expect((await admin("POST", "/reseal", undefined, rotated)).body.resealed).toBe(5);
  for (const id of ids) {
    const { body } = await admin("GET", `/channels/${id}`, undefined, { CREDENTIALS_KEY: rotated.CREDENTIALS_KEY });
    expect(body.channel.webhook.verifyToken).toEqual(expect.any(String));
  }
});

test("a row that can't be written holds up the reseal of no other row, and is resealed once it can be", async () => {
  await withoutChannels();
  const ids = [(await web()).id, (await web()).id, (await web()).id].toSorted();
  const [bad = "", ...rest] = ids;
  const before = (await rowOf(bad)).identity_secret;
  await env.DB.exec(
    `create trigger broken before update on channels when old.id = '${bad}' begin select raise(abort, 'broken'); end`,
  );
  const rotated = { CREDENTIALS_KEY: newSecret(), CREDENTIALS_KEY_PREVIOUS: env.CREDENTIALS_KEY };
  expect((await admin("POST", "/reseal", undefined, rotated)).status).toBeGreaterThanOrEqual(500);
  await env.DB.exec("drop trigger broken");
  expect((await rowOf(bad)).identity_secret).toBe(before);
  for (const id of rest) {
    const cell = { id, column: "identity_secret" };
    await expect(open(keys(rotated.CREDENTIALS_KEY), cell, (await rowOf(id)).identity_secret)).resolves.toBeTypeOf(
      "string",
    );
  }
  expect((await admin("POST", "/reseal", undefined, rotated)).body).toEqual({ resealed: 6, unreadable: [] });
});

test("many rows that can't be written hold up the reseal of no other row", async () => {
  await withoutChannels();
  const ids: string[] = [];
  while (ids.length < 22) ids.push((await web()).id);
  ids.sort();
  const bad = ids.filter((_id, index) => index % 2 === 0);
  await env.DB.exec(
    `create trigger broken before update on channels when old.id in ('${bad.join("', '")}') begin select raise(abort, 'broken'); end`,
  );
  const rotated = { CREDENTIALS_KEY: newSecret(), CREDENTIALS_KEY_PREVIOUS: env.CREDENTIALS_KEY };
  expect((await admin("POST", "/reseal", undefined, rotated)).status).toBeGreaterThanOrEqual(500);
  await env.DB.exec("drop trigger broken");
  const last = ids.at(-1) ?? "";
  const cell = { id: last, column: "identity_secret" };
  await expect(open(keys(rotated.CREDENTIALS_KEY), cell, (await rowOf(last)).identity_secret)).resolves.toBeTypeOf(
    "string",
  );
  expect((await admin("POST", "/reseal", undefined, rotated)).status).toBe(200);
});

test("a reseal does not change what the current key already opens", async () => {
  await withoutChannels();
  const channel = await whatsapp();
  const before = await rowOf(channel.id);
  expect((await admin("POST", "/reseal")).body).toEqual({ resealed: 2, unreadable: [] });
  expect(await rowOf(channel.id)).toEqual(before);
});

test("two concurrent changes of one channel's credentials and settings are both stored", async () => {
  const { id } = await whatsapp();
  const patches = [
    { credentials: { accessToken: "canary-second-token" } },
    { credentials: { appSecret: "canary-second-secret" }, settings: { perSecond: 7 } },
    { name: "Second" },
  ];
  let isFirst = true;
  aroundQueries(async (_query, run) => {
    const read = await run();
    if (isFirst) {
      isFirst = false;
      for (const patch of patches.slice(1)) expect((await admin("PATCH", `/channels/${id}`, patch)).status).toBe(200);
    }
    return read;
  });
  const { channel } = (await admin("PATCH", `/channels/${id}`, patches[0])).body;
  expect([channel.name, channel.settings]).toEqual(["Second", { perSecond: 7 }]);
  expect(channel.credentials).toEqual({ phoneNumberId: "9876", accessToken: "oken", appSecret: "cret" });
  const { credentials } = await rowOf(id);
  expect(JSON.parse(await open(keys(), { id, column: "credentials" }, credentials))).toEqual({
    ...CREDENTIALS,
    accessToken: "canary-second-token",
    appSecret: "canary-second-secret",
  });
});

test("two concurrent changes of settings are both stored", async () => {
  const { id } = await web();
  const settings = { allowedOrigins: ["https://one.test"] };
  let isFirst = true;
  aroundQueries(async (_query, run) => {
    const read = await run();
    if (isFirst) {
      isFirst = false;
      expect((await admin("PATCH", `/channels/${id}`, { settings })).status).toBe(200);
    }
    return read;
  });
  expect((await admin("PATCH", `/channels/${id}`, { settings: {} })).body.channel.settings).toEqual({
    ...settings,
    uploads: "everyone",
    hideWhenClosed: false,
    askContact: "never",
  });
});

test("two identity secrets that are created at the same time are both valid during the overlap", async () => {
  const { id } = await web();
  const answers = await Promise.all(
    [1, 2].map(() => admin("POST", `/channels/${id}/identity-secret`, { overlapSeconds: 60 })),
  );
  const row = await rowOf(id);
  const living = [
    await open(keys(), { id, column: "identity_secret" }, row.identity_secret),
    await open(keys(), { id, column: "identity_previous" }, row.identity_previous),
  ];
  expect(new Set(living)).toEqual(new Set(answers.map((answer) => created(answer).identitySecret)));
});

test("a PATCH of a channel that others change constantly ends with a 503", async () => {
  const { id } = await web();
  aroundQueries(async (_query, run) => {
    const read = await run();
    await env.DB.prepare("update channels set identity_secret = identity_secret || 'x' where id = ?").bind(id).run();
    return read;
  });
  expectError(await admin("PATCH", `/channels/${id}`, { name: "New" }), 503, "unavailable");
});

test("a channel that changes during its reseal is still resealed", async () => {
  await withoutChannels();
  const { id } = await whatsapp();
  const rotated = { CREDENTIALS_KEY: newSecret(), CREDENTIALS_KEY_PREVIOUS: env.CREDENTIALS_KEY };
  const changed = await seal(keys(rotated.CREDENTIALS_KEY), { id, column: "credentials" }, JSON.stringify(CREDENTIALS));
  // The PATCH arrives after the rows were read.
  aroundQueries(async (query, run) => {
    const rows = await run();
    if (query === 1) await env.DB.prepare("update channels set credentials = ? where id = ?").bind(changed, id).run();
    return rows;
  });
  expect((await admin("POST", "/reseal", undefined, rotated)).status).toBe(200);
  const alone = { CREDENTIALS_KEY: rotated.CREDENTIALS_KEY };
  expect((await admin("GET", `/channels/${id}`, undefined, alone)).status).toBe(200);
});

test("a sealed text that no key opens hides no channel, and stops no reseal and no deletion", async () => {
  const { organizationId } = await newOrganization();
  const lost = await newChannel(organizationId, "telegram");
  await env.DB.prepare("update channels set verify_token = credentials where id = ?").bind(lost).run();

  const listed = await admin("GET", `/organizations/${organizationId}/channels`);
  const shown = listed.body.channels.find((channel: { id: string }) => channel.id === lost);
  expect(shown.webhook.verifyToken, listed.text).toBeNull();
  expect((await admin("POST", "/reseal")).body.unreadable).toContain(lost);
  expect((await admin("DELETE", `/channels/${lost}`)).status).toBe(200);
});
