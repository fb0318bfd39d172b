import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createChannel, createOrganization } from "../../../support/world/factories.ts";
import type { Place } from "./fixtures.ts";

const BOT_TOKEN = "123456:test-bot-token";
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** A service with fixed responses to paths that begin with these. @returns the environment of its operator */
async function fakeService({ secrets }: Place, responses: Record<string, object>): Promise<Record<string, string>> {
  const service = createServer(({ headers, url = "" }, response) => {
    const isAllowed = headers.authorization === `Bearer ${secrets.ADMIN_TOKEN}`;
    const [, body] = Object.entries(responses).find(([path]) => url.startsWith(path)) ?? [];
    response.writeHead(isAllowed ? (body ? 200 : 404) : 401).end(JSON.stringify(body ?? {}));
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void service.close());
  await once(service, "listening");
  return { PARLEY_URL: `http://127.0.0.1:${(service.address() as AddressInfo).port}` };
}

/** The commands of the operator, as processes against the service. */
export function operatorTests(placeOf: () => Place): void {
  test("a table on stdout has complete ids and relative times, and stderr is empty", async () => {
    const place = placeOf();
    const { id: organization } = await createOrganization(place.world);
    const { code, stdout, stderr } = await place.run(["members", "list", "--organization", organization]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const [head = "", row = "", ...more] = stdout.trimEnd().split("\n");
    expect(head).toMatch(/^ID +NAME +EMAIL +PERMISSIONS +CREATED$/);
    expect(row).toMatch(/^mbr_g\w{14,} +Ann +– +chats:read, .*data:export +(now|\d+ (sec|min)\. ago)$/);
    expect(row.indexOf("Ann")).toBe(head.indexOf("NAME"));
    expect(more).toEqual([]);
  });

  test("an organization is created with its first member", async () => {
    const made = await placeOf().run(["organizations", "create", "--name", "Acme", "--owner", "Ann"]);
    expect(made.code).toBe(0);
    expect(made.stdout).toMatch(/^id +org_g\w+$/m);
    expect(made.stdout).toMatch(/^createdAt +\d{4}-\S+Z \((now|\d+ (sec|min)\. ago)\)$/m);
    expect(made.stdout).toMatch(/^member\.name +Ann$/m);
  });

  test("an empty list prints nothing on stdout, and a note about more pages goes to stderr", async () => {
    const place = placeOf();
    const { id: organization } = await createOrganization(place.world);
    const of = ["--organization", organization];
    const empty = await place.run(["templates", "list", ...of]);
    expect(empty).toEqual({ code: 0, stdout: "", stderr: "No templates.\n" });
    const ben = ["members", "create", "--name", "Ben", "--public-name", "Support", ...of];
    expect((await place.run(ben)).stdout).toMatch(/^name +Ben\npublicName +Support$/m);
    const page = await place.run(["members", "list", "--limit", "1", ...of]);
    expect(page.stdout.trimEnd().split("\n")).toHaveLength(2);
    expect(page.stderr).toBe("Page 1 of 2, 2 in total.\n");
  });

  test("stats prints a table of channels, one of keys and one of members, with one note about more pages", async () => {
    const place = placeOf();
    const acme = await createOrganization(place.world);
    const channel = await createChannel(acme);
    await createChannel(acme);
    const { code, stdout, stderr } = await place.run(["stats", "--organization", acme.id, "--limit", "1"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "No keys.\nPage 1 of 2.\n" });
    const [head = "", row = "", ...ofMembers] = stdout.trimEnd().split("\n");
    const heads =
      "CHANNEL NAME KIND HEALTH CHATS UNANSWERED WITH_BOT WAITING OLDEST SENT RECEIVED RETRY FAILED UNKNOWN";
    expect(head.split(/ {2,}/)).toEqual(heads.split(" ").map((each) => each.replace("_", " ")));
    expect(row).toMatch(new RegExp(`^${channel.id} +Desk +web +ok +0 +0 +0 +0 +– +0 +0 +0 +0 +0$`));
    expect(ofMembers.map((line) => line.split(/ {2,}/))).toEqual([
      ["MEMBER", "NAME", "CHATS", "UNANSWERED"],
      [acme.memberId, "Ann", "0", "0"],
    ]);
  });

  test("--json prints the service's answer unchanged", async () => {
    const place = placeOf();
    const { id: organization } = await createOrganization(place.world);
    const answer = await place.json<{ members: { createdAt: string }[] }>([
      "members",
      "list",
      "--organization",
      organization,
    ]);
    expect(answer).toMatchObject({ members: [{ name: "Ann" }], pagination: { total: 1 } });
    expect(answer.members[0]?.createdAt).toMatch(/^\d{4}-.*Z$/);
  });

  test("a template is created, changed from standard input, shown and deleted", async () => {
    const place = placeOf();
    const { id: organization } = await createOrganization(place.world);
    const words = ["templates", "create", "--name", "hi", "--language", "en", "--body", "Hi {{name}}"];
    const { template } = await place.json<{ template: { id: string } }>([...words, "--organization", organization]);
    const changed = await place.run(["templates", "change", template.id, "--body", "-"], {}, "Hello {{who}}\n");
    expect(changed.stdout).toMatch(/^body +Hello \{\{who\}\}$/m);
    const deleted = await place.run(["templates", "delete", template.id, "--yes"]);
    expect(deleted.stdout).toMatch(/^variables +who$/m);
    expect((await place.run(["templates", "show", template.id])).code).toBe(1);
  });

  test("a saved reply is created, changed from standard input, listed and deleted", async () => {
    const place = placeOf();
    const { id: organization } = await createOrganization(place.world);
    const of = ["--organization", organization];
    expect(await place.run(["replies", "list", ...of])).toEqual({ code: 0, stdout: "", stderr: "No replies.\n" });
    const words = ["replies", "create", "--name", "Bye", "--shortcut", "bye", "--content", "Bye {{contact.name}}"];
    const { reply } = await place.json<{ reply: { id: string } }>([...words, ...of]);
    await place.json(["replies", "create", "--name", "Hi", "--content", "Hi", ...of]);
    const changed = await place.run(["replies", "change", reply.id, "--content", "-"], {}, "{{metadata.order|It}}\n");
    expect(changed.stdout).toMatch(/^content +\{\{metadata\.order\|It\}\}$/m);
    const page = await place.run(["replies", "list", "--limit", "1", ...of]);
    expect(page.stdout).toMatch(
      /^ID +SHORTCUT +NAME +CONTENT +CHANGED\nrpl_g\w+ +bye +Bye +\{\{metadata\.order\|It\}\}/,
    );
    const [, cursor = ""] = /^For more, add --after (\S+)$/m.exec(page.stderr) ?? [];
    const rest = await place.run(["replies", "list", "--after", cursor, ...of]);
    expect(rest.stdout).toMatch(/^rpl_g\w+ +– +Hi +Hi /m);
    const same = await place.run(["replies", "create", "--name", "B", "--shortcut", "BYE", "--content", "B", ...of]);
    expect([same.code, same.stderr]).toEqual([1, expect.stringContaining("has a saved reply with this shortcut")]);
    const wrong = await place.run(["replies", "change", reply.id, "--content", "{{contact.nmae}}"]);
    expect(wrong.stderr).toMatch(/--content: has the unknown placeholder "\{\{contact\.nmae\}\}"/);
    const freed = await place.json<{ reply: object }>(["replies", "change", reply.id, "--shortcut", "default"]);
    expect(freed.reply).toMatchObject({ shortcut: null });
    expect((await place.run(["replies", "change", "tpl_g1", "--name", "New"])).code).toBe(2);
    expect((await place.run(["replies", "delete", reply.id, "--yes"])).stdout).toMatch(/^name +Bye$/m);
    expect((await place.run(["replies", "delete", reply.id, "--yes"])).code).toBe(1);
  });

  test("a label is created, changed, listed and deleted", async () => {
    const place = placeOf();
    const { id: organization } = await createOrganization(place.world);
    const of = ["--organization", organization];
    expect(await place.run(["labels", "list", ...of])).toEqual({ code: 0, stdout: "", stderr: "No labels.\n" });
    const words = ["labels", "create", "--name", "Refund", "--color", "#2f80ed", ...of];
    const { label } = await place.json<{ label: { id: string } }>(words);
    const listed = await place.run(["labels", "list", ...of]);
    expect(listed.stdout).toMatch(/^ID +NAME +COLOR +CHATS\nlbl_g\w+ +Refund +#2f80ed +0$/m);
    const same = await place.run(["labels", "create", "--name", "REFUND", ...of]);
    expect([same.code, same.stderr]).toEqual([1, expect.stringContaining("has a label with this name")]);
    const wrong = await place.run(["labels", "change", label.id, "--color", "blue", ...of]);
    expect(wrong.stderr).toContain("--color: must be a color such as #2f80ed");
    const changed = await place.json<{ label: object }>(["labels", "change", label.id, "--color", "default", ...of]);
    expect(changed.label).toMatchObject({ name: "Refund", color: null });
    expect((await place.run(["labels", "change", "rpl_g1", "--name", "New", ...of])).code).toBe(2);
    expect((await place.run(["labels", "delete", label.id, "--yes", ...of])).stdout).toMatch(/^name +Refund$/m);
    expect((await place.run(["labels", "delete", label.id, "--yes", ...of])).code).toBe(1);
  });

  test("a key's secret goes to stdout once, and the key is rotated, changed, counted and revoked", async () => {
    const place = placeOf();
    const of = ["--organization", (await createOrganization(place.world)).id];
    const made = await place.run(["keys", "create", "--name", "Shop", "--quota", "50", ...of]);
    const [, id = ""] = /^id +(key_\w+)$/m.exec(made.stdout) ?? [];
    const [, secret = ""] = /^secret +(ply_\w+)$/m.exec(made.stdout) ?? [];
    const changed = await place.json(["keys", "change", id, "--rate-limit", "7/60", "--quota", "default"]);
    expect(changed).toMatchObject({ key: { rateLimit: { limit: 7, windowSeconds: 60 }, monthlyQuota: null } });
    const rotated = await place.run(["keys", "rotate", id]);
    const [, next = ""] = /^secret +(ply_\w+)$/m.exec(rotated.stdout) ?? [];
    expect(next).not.toBe(secret);
    expect(rotated.stderr).toBe("The secret is shown only once. Store it now.\n");
    expect((await place.run(["usage"], { PARLEY_API_KEY: next })).stdout).toMatch(/^used +1$/m);
    const revoked = await place.json(["keys", "revoke", id, "--yes"]);
    expect(revoked).toMatchObject({ key: { revokedAt: expect.any(String) } });
    const refused = await place.run(["usage"], { PARLEY_API_KEY: next });
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toContain("The secret comes from PARLEY_API_KEY.");
  });

  test("a channel's secret is read from the environment or standard input, and is never shown", async () => {
    const place = placeOf();
    const { id: organization } = await createOrganization(place.world);
    const words = ["channels", "create", "--kind", "telegram", "--name", "Bot", "--organization", organization];
    const made = await place.run(words, { PARLEY_BOT_TOKEN: BOT_TOKEN });
    const [, id = ""] = /^id +(chn_\w+)$/m.exec(made.stdout) ?? [];
    expect(made.stdout).toMatch(/^credentials\.botToken +oken$/m);
    const changed = await place.run(
      ["channels", "change", id, "--replace", "bot-token"],
      {},
      "654321:other-token-abcd\n",
    );
    expect(changed.stdout).toMatch(/^credentials\.botToken +abcd$/m);
    expect(`${changed.stdout}${changed.stderr}`).not.toContain("other-token");
    const registered = await place.json(["channels", "webhook", id]);
    expect(registered).toMatchObject({ webhook: { ok: true, url: `${place.url()}/hooks/telegram/${id}` } });
  });

  test("keys list shows each key's rate limit, age and last use", async () => {
    const place = placeOf();
    const before = (ms: number) => new Date(Date.now() - ms).toISOString();
    const key = {
      id: "key_g1",
      name: "Test",
      rateLimit: { limit: 300, windowSeconds: 60 },
      createdAt: before(3 * DAY + HOUR),
    };
    const other = { ...key, id: "key_g2", name: "Other" };
    const env = await fakeService(place, {
      "/admin/v1/organizations/org_g1/keys": { keys: [key, other], pagination: {} },
      "/admin/v1/stats?organization=org_g1": { keys: [{ id: "key_g1", updatedAt: before(2.5 * HOUR) }] },
    });
    const { stdout, stderr } = await place.run(["keys", "list", "--organization", "org_g1"], env);
    const [head = "", row = "", unused = ""] = stdout.split("\n");
    expect(stderr).toBe("");
    expect(head).toMatch(/^ID +NAME +PERMISSIONS +RATE LIMIT +QUOTA +CREATED +LAST USED +EXPIRES +REVOKED$/);
    expect(row).toMatch(/^key_g1 +Test .* 300\/60s +– +3 days ago +2 hr. ago +– +–$/);
    expect(unused).toMatch(/^key_g2 +Other .* 3 days ago +– +– +–$/);
  });

  test("limits are set, shown and removed by --max-chats", async () => {
    const place = placeOf();
    const words = ["organizations", "create", "--name", "Acme", "--owner", "Ann", "--max-chats", "1000"];
    const { organization } = await place.json<{ organization: { id: string } }>(words);
    expect(organization).toMatchObject({ name: "Acme", limits: { chats: 1_000 } });
    const change = ["organizations", "change", organization.id];
    const changed = await place.run([...change, "--name", "Acme Ltd", "--max-chats", "20"]);
    expect(changed.stdout).toMatch(/^name +Acme Ltd$/m);
    expect(changed.stdout).toMatch(/^limits\.chats +20$/m);
    const removed = await place.json([...change, "--max-chats", "default"]);
    expect(removed).toMatchObject({ organization: { name: "Acme Ltd", limits: { chats: null } } });
    const { id: channel } = await createChannel(await createOrganization(place.world));
    const limited = await place.json(["channels", "change", channel, "--max-chats", "7"]);
    expect(limited).toMatchObject({ channel: { id: channel, limits: { chats: 7 } } });
  });

  test("without --organization, a command uses the only organization", async () => {
    const place = placeOf();
    const env = await fakeService(place, {
      "/admin/v1/organizations?": { organizations: [{ id: "org_g1", name: "Acme" }], pagination: { total: 1 } },
      "/admin/v1/organizations/org_g1/members": { members: [{ id: "mbr_g1", name: "Ann" }], pagination: {} },
    });
    expect((await place.run(["members", "list"], env)).stdout).toContain("mbr_g1");
  });

  test("templates sync says what it stored, and a channel takes its account", async () => {
    const place = placeOf();
    const path = "/admin/v1/channels/chn_g1/templates/sync";
    const env = await fakeService(place, { [path]: { created: 2, updated: 1, skipped: 0 } });
    const done = await place.run(["templates", "sync", "chn_g1"], env);
    expect(done).toMatchObject({ code: 0, stderr: "" });
    expect(done.stdout).toMatch(/^created +2\nupdated +1\nskipped +0$/m);
    const { id } = await createChannel(await createOrganization(place.world), { kind: "whatsapp" });
    const changed = await place.run(["channels", "change", id, "--waba-id", "102290129340398"]);
    expect(changed.stdout).toMatch(/^settings\.wabaId +102290129340398$/m);
    const words = await place.json(["channels", "change", id, "--stop-word", "STOP", "--stop-word", "Keine Werbung"]);
    expect(words.channel).toMatchObject({ settings: { stopWords: ["STOP", "Keine Werbung"] } });
    const none = await place.json(["channels", "change", id, "--stop-word", "default"]);
    expect(none.channel).not.toMatchObject({ settings: { stopWords: expect.anything() } });
    const away = await place.json(["channels", "change", id, "--away", "Back at 9"]);
    expect(away.channel).toMatchObject({ settings: { away: { text: "Back at 9" } } });
    const here = await place.json(["channels", "change", id, "--away", "default"]);
    expect(here.channel).not.toMatchObject({ settings: { away: expect.anything() } });
  });

  test("a web chat's sites and uploads are changed, and one change leaves the other", async () => {
    const place = placeOf();
    const { id } = await createChannel(await createOrganization(place.world), { kind: "web" });
    const change = ["channels", "change", id];
    expect((await place.run([...change, "--uploads", "verified"])).stdout).toMatch(/^settings\.uploads +verified$/m);
    const changed = await place.json([...change, "--allowed-origin", "https://shop.example"]);
    const settings = { allowedOrigins: ["https://shop.example"], uploads: "verified" };
    expect(changed).toMatchObject({ channel: { settings } });
  });

  test("how a web chat looks and speaks is changed, and the command says where to see it", async () => {
    const place = placeOf();
    const { id } = await createChannel(await createOrganization(place.world), { kind: "web" });
    const change = (...words: string[]) => place.run(["channels", "change", id, ...words]);
    const write = async (name: string, value: object) => {
      const path = join(place.folder, name);
      await writeFile(path, JSON.stringify(value));
      return path;
    };
    const hours = { timeZone: "Asia/Tokyo", week: { sunday: [{ opens: "18:00", closes: "24:00" }] } };
    const texts = { ar: { send: "أرسل \u2067الآن\u2069" } };
    const look = ["--title", "Acme", "--greeting", "Hello!", "--accent-color", "#0d6b5e"];
    const files = ["--hours", await write("hours.json", hours), "--texts", await write("texts.json", texts)];
    const more = ["--starter", "Prices", "--starter", "Opening hours", "--hide-when-closed", "on"];
    const done = await change(...look, ...files, ...more, "--ask-contact", "afterFirst");
    expect(done).toMatchObject({ code: 0, stderr: `Visitors see it at ${place.url()}/web/${id}\n` });
    const { channel } = (await place.json(["channels", "show", id])) as { channel: { settings: object } };
    expect(channel.settings).toMatchObject({
      title: "Acme",
      greeting: "Hello!",
      accentColor: "#0d6b5e",
      starters: ["Prices", "Opening hours"],
      hours,
      texts,
      hideWhenClosed: true,
      askContact: "afterFirst",
    });
    const six = Array.from({ length: 6 }, (_, n) => ["--starter", `Question ${n}`]).flat();
    expect((await change(...six)).stderr).toContain("--starter: must have at most 5 entries");
    expect((await change("--accent-color", "red")).stderr).toContain("--accent-color: must be a color");
    expect((await change("--logo-url", "http://acme.example/logo.png")).stderr).toContain(
      "--logo-url: must be an https URL",
    );
    const late = await write("late.json", { ...hours, week: { sunday: [{ opens: "24:00", closes: "24:00" }] } });
    expect((await change("--hours", late)).stderr).toContain("--hours");
    expect((await change("--title", "default")).stdout).not.toContain("settings.title");
  });
}
