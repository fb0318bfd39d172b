import { expect, test } from "vitest";
import { newChannel, newOrganization } from "./made.ts";
import type { Place } from "./place.ts";

const BOT_TOKEN = "123456:test-bot-token";

/** The commands of the operator, as processes against the service. */
export function operatorTests(placeOf: () => Place): void {
  test("a table goes to stdout with whole ids and times as people say them, and nothing to stderr", async () => {
    const place = placeOf();
    const organization = await newOrganization(place);
    const { code, stdout, stderr } = await place.run(["members", "list", "--organization", organization]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const [head = "", row = "", ...more] = stdout.trimEnd().split("\n");
    expect(head).toMatch(/^ID +NAME +EMAIL +CREATED$/);
    expect(row).toMatch(/^mbr_g\w{14,} +Ann +– +(now|\d+ (sec|min)\. ago)$/);
    expect(row.indexOf("Ann")).toBe(head.indexOf("NAME"));
    expect(more).toEqual([]);
  });

  test("an organization is made with its first member", async () => {
    const made = await placeOf().run(["organizations", "create", "--name", "Acme", "--owner", "Ann"]);
    expect(made.code).toBe(0);
    expect(made.stdout).toMatch(/^organization\.id +org_g\w+$/m);
    expect(made.stdout).toMatch(/^organization\.createdAt +\d{4}-\S+Z \((now|\d+ (sec|min)\. ago)\)$/m);
    expect(made.stdout).toMatch(/^member\.name +Ann$/m);
  });

  test("an empty list is nothing on stdout, and a page of several says so on stderr", async () => {
    const place = placeOf();
    const organization = await newOrganization(place);
    const of = ["--organization", organization];
    const empty = await place.run(["templates", "list", ...of]);
    expect(empty).toEqual({ code: 0, stdout: "", stderr: "No templates.\n" });
    expect((await place.run(["members", "create", "--name", "Ben", ...of])).stdout).toMatch(/^name +Ben$/m);
    const page = await place.run(["members", "list", "--limit", "1", ...of]);
    expect(page.stdout.trimEnd().split("\n")).toHaveLength(2);
    expect(page.stderr).toBe("Page 1 of 2, 2 in all.\n");
  });

  test("the numbers are a table of channels and one of keys, and it is said once that there are more pages", async () => {
    const place = placeOf();
    const organization = await newOrganization(place);
    const channel = await newChannel(place, organization);
    await newChannel(place, organization);
    const { code, stdout, stderr } = await place.run(["stats", "--organization", organization, "--limit", "1"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "No keys.\nPage 1 of 2.\n" });
    const [head = "", row = "", ...more] = stdout.trimEnd().split("\n");
    expect(head).toMatch(/^CHANNEL +NAME +KIND +HEALTH +WAITING +OLDEST +SENT +RETRY +FAILED +UNKNOWN$/);
    expect(row).toMatch(new RegExp(`^${channel.id} +Desk +web +ok +0 +– +0 +0 +0 +0$`));
    expect(more).toEqual([]);
  });

  test("--json is the service's own answer, with times as they are", async () => {
    const place = placeOf();
    const organization = await newOrganization(place);
    const answer = await place.json<{ members: { createdAt: string }[] }>([
      "members",
      "list",
      "--organization",
      organization,
    ]);
    expect(answer).toMatchObject({ members: [{ name: "Ann" }], pagination: { total: 1 } });
    expect(answer.members[0]?.createdAt).toMatch(/^\d{4}-.*Z$/);
  });

  test("a template is made, changed from standard input, shown and deleted", async () => {
    const place = placeOf();
    const organization = await newOrganization(place);
    const words = ["templates", "create", "--name", "hi", "--language", "en", "--body", "Hi {{name}}"];
    const { template } = await place.json<{ template: { id: string } }>([...words, "--organization", organization]);
    const changed = await place.run(["templates", "change", template.id, "--body", "-"], {}, "Hello {{who}}\n");
    expect(changed.stdout).toMatch(/^body +Hello \{\{who\}\}$/m);
    const deleted = await place.run(["templates", "delete", template.id]);
    expect(deleted.stdout).toMatch(/^variables +who$/m);
    expect((await place.run(["templates", "show", template.id])).code).toBe(1);
  });

  test("a key's secret is data, shown once; it is rotated, changed, counted and revoked", async () => {
    const place = placeOf();
    const of = ["--organization", await newOrganization(place)];
    const made = await place.run(["keys", "create", "--name", "Shop", "--quota", "50", ...of]);
    const [, id = ""] = /^id +(key_\w+)$/m.exec(made.stdout) ?? [];
    const [, secret = ""] = /^secret +(ply_\w+)$/m.exec(made.stdout) ?? [];
    const changed = await place.json(["keys", "change", id, "--rate-limit", "7/60", "--quota", "default"]);
    expect(changed).toMatchObject({ key: { rateLimit: { limit: 7, windowSeconds: 60 }, monthlyQuota: null } });
    const rotated = await place.run(["keys", "rotate", id]);
    const [, next = ""] = /^secret +(ply_\w+)$/m.exec(rotated.stdout) ?? [];
    expect(next).not.toBe(secret);
    expect(rotated.stderr).toBe("The secret is in this answer alone: keep it now.\n");
    expect((await place.run(["usage"], { PARLEY_API_KEY: next })).stdout).toMatch(/^used +1$/m);
    const revoked = await place.json(["keys", "revoke", id]);
    expect(revoked).toMatchObject({ key: { revokedAt: expect.any(String) } });
    const refused = await place.run(["usage"], { PARLEY_API_KEY: next });
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toContain("It was shown the secret of PARLEY_API_KEY.");
  });

  test("a channel's secret comes from the environment or a line of standard input, and is never shown", async () => {
    const place = placeOf();
    const organization = await newOrganization(place);
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

  test("nothing is erased without --yes", async () => {
    const place = placeOf();
    const organization = await newOrganization(place);
    const { id } = await newChannel(place, organization);
    const asked = await place.run(["channels", "delete", id]);
    expect(asked).toMatchObject({ code: 2, stdout: "" });
    expect(asked.stderr).toContain("--yes");
    expect((await place.run(["organizations", "delete", organization, "--yes"])).code).toBe(0);
    expect((await place.run(["channels", "show", id])).stderr).toContain("channel_not_found");
  });

  test("what the service refuses is told on stderr with its code, each fault and the request's id", async () => {
    const place = placeOf();
    const { code, stdout, stderr } = await place.run(["organizations", "create", "--name", " ", "--owner", " "]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(
      /^✗ Validation failed \(validation_failed, request [0-9a-f-]{36}\)\.\n {2}name: .+\n {2}owner\.name: .+\n$/,
    );
  });

  test("a service that does not answer is exit 1, and what to do", async () => {
    const { code, stdout, stderr } = await placeOf().run(["organizations", "list"], {
      PARLEY_URL: "http://127.0.0.1:9",
      PARLEY_ADMIN_TOKEN: "token",
    });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/^✗ http:\/\/127\.0\.0\.1:9 does not answer \(\w.*\)\. npm start starts the service/);
  });

  test("a Node that can't read TypeScript hands over to the one of npm ci, its exit code too", async () => {
    const { code, stderr } = await placeOf().run(["nonsense"], {}, "", ["--no-experimental-strip-types"]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: "✗ There is no such command: parley --help lists them.\n" });
  });
}
