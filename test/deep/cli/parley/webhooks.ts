import { expect, test } from "vitest";
import { createKey, createOrganization } from "../../../support/world/factories.ts";
import type { Place } from "./fixtures.ts";

/** The webhooks of an organization, as the operator and as a client. */
export function webhookTests(placeOf: () => Place): void {
  test("a webhook is created, listed, changed, rotated, disabled, enabled and deleted", async () => {
    const place = placeOf();
    const { id: organization } = await createOrganization(place.world);
    const of = ["--organization", organization];
    const words = ["webhooks", "create", "--url", "https://shop.example/hook", "--type", "message.*", ...of];
    const created = await place.run(words);
    expect(created).toMatchObject({ code: 0, stderr: "The secret is shown only once. Store it now.\n" });
    expect(created.stdout).toMatch(/^secret +whsec_[A-Za-z0-9+/]{43}=$/m);
    expect(created.stdout).toMatch(/^state +trial$/m);
    const [, id = ""] = /^id +(whk_\w+)$/m.exec(created.stdout) ?? [];
    const listed = await place.run(["webhooks", "list", ...of]);
    expect(listed.stdout).toMatch(new RegExp(`^${id} +https://shop.example/hook +trial +`, "m"));
    expect(listed.stderr).toBe("");
    const again = await place.run(words);
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining("webhook_exists") });
    const changed = await place.run(["webhooks", "change", id, "--payload", "thin", "--type", "default"]);
    expect(changed.stdout).toMatch(/^payload +thin$/m);
    expect(changed.stdout).toMatch(/^types +–$/m);
    const rotated = await place.run(["webhooks", "rotate", id, "--overlap", "60"]);
    expect(rotated).toMatchObject({ stdout: expect.stringMatching(/^secret +whsec_/m), stderr: created.stderr });
    expect((await place.run(["webhooks", "attempts", id])).stderr).toBe("No attempts.\n");
    expect((await place.run(["webhooks", "disable", id])).stdout).toMatch(/^state +disabled$/m);
    const stats = await place.run(["stats", ...of]);
    expect(stats.stdout).toMatch(new RegExp(`^${id} +disabled +`, "m"));
    const doctor = await place.run(["doctor", "--state", place.state, ...of]);
    expect(doctor.stdout).toContain(`! webhook ${id}: was disabled`);
    expect((await place.run(["webhooks", "enable", id])).stdout).toMatch(/^state +(trial|ok)$/m);
    expect((await place.run(["webhooks", "delete", id, "--yes"])).code).toBe(0);
    expect((await place.run(["webhooks", "list", ...of])).stderr).toBe("No webhooks.\n");
  });

  test("a fault in an option of a webhook names the option", async () => {
    const place = placeOf();
    const { id: organization } = await createOrganization(place.world);
    const words = ["webhooks", "create", "--url", "http://10.0.0.1/", "--organization", organization];
    const { code, stderr } = await place.run([...words, "--type", "nonsense", "--per-second", "0"]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^ {2}--type: /m);
    expect(stderr).toMatch(/^ {2}--per-second: /m);
    expect((await place.run(words)).stderr).toMatch(/^ {2}--url: must begin with https:\/\/$/m);
  });

  test("an API key manages its own organization's webhooks", async () => {
    const place = placeOf();
    const { secret } = await createKey(await createOrganization(place.world), {
      permissions: ["events:read", "webhooks:read", "webhooks:write"],
    });
    // Without the operator's token of the checkout.
    await place.devVars({});
    try {
      const env = { PARLEY_API_KEY: secret };
      const created = await place.run(["webhooks", "create", "--url", "https://shop.example/hook"], env);
      expect(created.code).toBe(0);
      expect((await place.run(["webhooks", "list"], env)).stdout).toContain("https://shop.example/hook");
    } finally {
      await place.devVars(place.secrets);
    }
  });
}
