import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { writeDemo } from "../../../../src/cli/demo-file.ts";
import { createChannel } from "../../../support/world/factories.ts";
import type { Place, Ran } from "./fixtures.ts";
import { newChat } from "./made.ts";

const SECRETS = ["ADMIN_TOKEN", "KEY_SECRET", "CREDENTIALS_KEY"] as const;
const BOT_TOKEN = "123456:doctors-bot-token";

/** Runs doctor in what `npm start` keeps, with the channels of one organization if it is named. */
function doctorOf(place: Place, env: Record<string, string> = {}, organization = "org_none"): Promise<Ran> {
  return place.run(["doctor", "--state", place.state, "--organization", organization], env);
}

/** What `parley doctor` finds. */
export function doctorTests(placeOf: () => Place): void {
  test("doctor finds no problem in a valid setup and exits with 0", async () => {
    const { organization, channelId, env } = await newChat(placeOf(), BOT_TOKEN);
    onTestFinished(() => void (placeOf().telegram.webhook = null));
    await placeOf().run(["channels", "webhook", channelId]);
    const { code, stdout, stderr } = await doctorOf(placeOf(), env, organization);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const good = stdout.split("\n").filter((line) => line.startsWith("✓"));
    expect(good.map((line) => line.slice(2).split(":")[0])).toEqual([
      ...SECRETS.map((name) => `${name} in .dev.vars`),
      "migrations of the local database",
      "service at http",
      ...SECRETS.map((name) => `${name} at the service`),
      "operator's token",
      "database",
      "API key",
      ...["credentials", "webhook", "network"].map((part) => `${part} of telegram channel Desk (${channelId})`),
    ]);
    expect(stdout).not.toMatch(/^[✗!]/m);
  });

  const doctor = (env: Record<string, string> = {}, organization?: string) => doctorOf(placeOf(), env, organization);

  test("doctor --json lists each check with its advice", async () => {
    const place = placeOf();
    const words = ["doctor", "--state", place.state, "--organization", "org_none"];
    const { ok, checks } = await place.json<{ ok: boolean; checks: object[] }>(words);
    expect(ok).toBe(true);
    for (const check of checks) expect(Object.keys(check)).toEqual(["what", "state", "found", "advice"]);
  });

  test.for(SECRETS)("%s that .dev.vars lacks is told, with what makes it", async (name) => {
    const place = placeOf();
    onTestFinished(() => place.devVars(place.secrets));
    await place.devVars({ ...place.secrets, [name]: "" });
    const ran = await doctor();
    expect(wrongIn(ran)).toEqual([
      expect.stringMatching(`^✗ ${name} in .dev.vars: is missing. To do: npm start creates`),
    ]);
    expect(ran.code).toBe(1);
  });

  test("doctor reports a malformed secret without showing it, and a file that other users can read", async () => {
    const place = placeOf();
    onTestFinished(() => place.devVars(place.secrets));
    await place.devVars({ ...place.secrets, KEY_SECRET: "hunter2", TELEGRAM_API_BASE: "ftp" }, 0o644);
    const ran = await doctor();
    expect(wrongIn(ran)).toEqual([
      expect.stringMatching("^✗ KEY_SECRET in .dev.vars: is malformed: it must be 32 bytes in base64. To do: "),
      expect.stringMatching("^✗ TELEGRAM_API_BASE in .dev.vars: is malformed"),
      expect.stringMatching("^! .dev.vars: can be read by others"),
    ]);
    expect(ran.stdout).not.toContain("hunter2");
  });

  test.for(SECRETS)("%s that the service itself lacks is told", async (name) => {
    const ran = await doctor({ PARLEY_URL: placeOf().url(name) });
    expect(ran.code).toBe(1);
    expect(wrongIn(ran)[0]).toMatch(new RegExp(`^✗ ${name} at the service: ${name}.* missing or malformed. To do: `));
  });

  test("doctor reports a wrong operator's token, with advice for its source", async () => {
    const ran = await doctor({ PARLEY_ADMIN_TOKEN: "wrong-token" });
    expect(wrongIn(ran)).toEqual([
      "✗ operator's token: is refused (from PARLEY_ADMIN_TOKEN). To do: set PARLEY_ADMIN_TOKEN to the service's " +
        "ADMIN_TOKEN, or unset it to use the one in .dev.vars",
    ]);
    expect(ran.code).toBe(1);
    const place = placeOf();
    onTestFinished(() => place.devVars(place.secrets));
    await place.devVars({ ...place.secrets, ADMIN_TOKEN: "changed" });
    expect(wrongIn(await doctor())).toEqual([
      expect.stringMatching("^✗ operator's token: is refused .from .dev.vars.. To do: restart npm start if"),
    ]);
  });

  test("doctor explains why an API key is refused", async () => {
    const place = placeOf();
    const { organization } = await newChat(place);
    const made = async (limits: object) => {
      const body = { name: "Refused", ...limits };
      return place.operator<{ key: { id: string }; secret: string }>(`/organizations/${organization}/keys`, body);
    };
    const [expired, revoked, rotated] = [await made({}), await made({}), await made({ monthlyQuota: 1 })];
    await place.run(["keys", "change", expired.key.id, "--expires", "2026-01-01T00:00:00Z"]);
    await place.run(["keys", "revoke", revoked.key.id, "--yes"]);
    await place.run(["keys", "rotate", rotated.key.id]);
    const said = async (key: string, env = {}) => {
      const [line = ""] = wrongIn(await doctor({ PARLEY_API_KEY: key, ...env }));
      return line.slice(line.indexOf("To do: ") + "To do: ".length);
    };
    expect(await said(expired.secret)).toBe(`${expired.key.id} is expired; create another with parley keys create`);
    expect(await said(revoked.secret)).toBe(`${revoked.key.id} was revoked; create another with parley keys create`);
    expect(await said(rotated.secret)).toMatch(
      new RegExp(`^${rotated.key.id} is valid, .* KEY_SECRET was changed: .*parley keys rotate ${rotated.key.id}$`),
    );
    expect(await said(`ply_${"a".repeat(54)}`)).toMatch(/^there is no key_a{16} at this service; /);
    expect(await said("ply_hunter2")).toMatch(/^it doesn't have the form of an API key; /);
  });

  test("doctor reports a key over its limit, and the wait", async () => {
    const place = placeOf();
    const { organization } = await newChat(place);
    const body = { name: "Busy", rateLimit: { limit: 1, windowSeconds: 3_600 } };
    const { secret } = await place.operator<{ secret: string }>(`/organizations/${organization}/keys`, body);
    const env = { PARLEY_API_KEY: secret };
    expect((await place.run(["usage"], env)).code).toBe(0);
    expect((await place.run(["usage"], env)).stderr).toMatch(
      /^✗ Rate limit exceeded .*\. Try again in 3[56]\d\d s\.\n$/,
    );
    expect(wrongIn(await doctor(env))).toEqual([
      expect.stringMatching(/^! API key: Rate limit exceeded .* Try again in 3[56]\d\d s\. To do: wait/),
    ]);
  });

  test("doctor reports a web channel whose identity secret can't be decrypted", async () => {
    const place = placeOf();
    const { organization, channel, channelId, env } = await newChat(place);
    const good = await doctor(env, organization);
    expect(good.stdout).toContain(
      `✓ credentials of web channel Desk (${channelId}): The identity secret can be decrypted`,
    );
    expect(good.code).toBe(0);
    const other = await createChannel(channel.organization);
    place.sql("update channels set identity_secret = ? where id = ?", "v1.other", other.id);
    const ran = await doctor(env, organization);
    expect(wrongIn(ran)).toEqual([
      expect.stringMatching(
        `^✗ credentials of web channel Desk .${other.id}.: CREDENTIALS_KEY can't decrypt .* channels rotate ${other.id}$`,
      ),
    ]);
    expect(ran.code).toBe(1);
    const { stderr } = await place.run(["channels", "rotate", other.id]);
    expect(stderr).toBe("The secret is shown only once. Store it now.\n");
    expect((await doctor(env, organization)).code).toBe(0);
  });

  test("doctor names a missing migration", async () => {
    const path = join(placeOf().folder, "checkout", "migrations", "9999_later.sql");
    await writeFile(path, "");
    onTestFinished(() => rm(path));
    const ran = await doctor();
    expect(wrongIn(ran)).toEqual([expect.stringMatching(/^✗ migrations .* not applied: 9999_later\.sql\. To do: /)]);
  });

  test("without a service at the address, doctor prints one line with advice", async () => {
    const ran = await doctor({ PARLEY_URL: "http://127.0.0.1:9" });
    expect(wrongIn(ran)).toEqual([
      expect.stringMatching(
        "^✗ service at http://127.0.0.1:9: does not answer. To do: Start the service with npm start",
      ),
    ]);
  });

  test("doctor reports a refused token with the reason, the queued messages and the command", async () => {
    const place = placeOf();
    const { organization, channelId, chatId, env } = await newChat(place, BOT_TOKEN);
    place.telegram.weather = async () => ({ status: 401 });
    onTestFinished(() => void (place.telegram.weather = null));
    await place.run(["send", chatId, "Hello"], env);
    const health = async () =>
      (await place.operator<{ channel: { health: { state: string } } }>(`/channels/${channelId}`)).channel.health.state;
    await expect.poll(health).toBe("broken");
    const ran = await doctor(env, organization);
    expect(ran.stderr).toBe("");
    expect(ran.code).toBe(1);
    expect(wrongIn(ran)).toEqual([
      expect.stringMatching(
        `^✗ credentials of telegram channel Desk .${channelId}.: The network refuses .*--replace bot-token$`,
      ),
      expect.stringMatching(`^✗ network of telegram channel Desk .${channelId}.: The network refuses the channel: `),
      expect.stringMatching(`^! messages of ${chatId}: 1 queued: `),
    ]);
  });

  test("problems in the demo are warnings", async () => {
    const place = placeOf();
    const { organization, channelId, env } = await newChat(place, BOT_TOKEN);
    const state = await place.newHome();
    const ids = { organizationId: organization, channelId, chatId: "cht_g1" };
    place.telegram.webhook = null;
    await writeDemo(state, { ...ids, key: "ply_g1", visitorHash: "0".repeat(64) });
    const { code, stdout } = await place.run(["doctor", "--state", state, "--organization", organization], env);
    expect(stdout).toMatch(/^! webhook of telegram channel .*, in the demo: No webhook is registered/m);
    expect(code).toBe(0);
  });

  test("doctor reports a Telegram webhook that is missing or points elsewhere, until it is registered", async () => {
    const place = placeOf();
    const { organization, channelId, env } = await newChat(place, BOT_TOKEN);
    onTestFinished(() => void (place.telegram.webhook = null));
    place.telegram.webhook = null;
    const what = `webhook of telegram channel Desk (${channelId})`;
    const advice = `To do: Register the webhook: parley channels webhook ${channelId}`;
    expect(wrongIn(await doctor(env, organization))).toEqual([
      `✗ ${what}: No webhook is registered, so messages from contacts do not arrive. ${advice}`,
    ]);
    place.telegram.webhook = { url: "https://elsewhere.example/secret-path", secret: "" };
    expect(wrongIn(await doctor(env, organization))).toEqual([
      `✗ ${what}: The webhook points elsewhere, to https://elsewhere.example. ${advice}`,
    ]);
    await place.run(["channels", "webhook", channelId]);
    const here = await doctor(env, organization);
    expect(here.stdout).toContain(`✓ ${what}: The webhook points to this service\n`);
    expect(here.code).toBe(0);
  });
}

function wrongIn({ stdout }: Ran): string[] {
  return stdout.split("\n").filter((line) => /^[✗!]/.test(line));
}
