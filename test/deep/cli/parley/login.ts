import { chmod, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Place } from "./fixtures.ts";

/** What is saved of a service, and whom it is shown. */
export function loginTests(placeOf: () => Place): void {
  test("login saves a secret from standard input in a private file, and commands use it", async () => {
    const place = placeOf();
    const XDG_CONFIG_HOME = await place.newHome();
    const { ADMIN_TOKEN } = place.secrets;
    const path = join(XDG_CONFIG_HOME, "parley", "profiles.json");
    const saved = await place.run(["login", "--url", place.url()], { XDG_CONFIG_HOME }, `${ADMIN_TOKEN}\n`);
    expect(saved).toMatchObject({ code: 0, stdout: "" });
    expect(saved.stderr).toBe(`Saved the operator's token for ${place.url()} as profile default in ${path}.\n`);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(join(XDG_CONFIG_HOME, "parley"))).mode & 0o777).toBe(0o700);
    const listed = await place.run(["organizations", "list"], { XDG_CONFIG_HOME, PARLEY_URL: "" });
    expect(listed.code).toBe(0);
    expect((await place.run(["logout"], { XDG_CONFIG_HOME })).code).toBe(0);
    expect(await readFile(path, "utf8")).not.toContain(ADMIN_TOKEN);
  });

  test("a secret that the service refuses is not saved", async () => {
    const place = placeOf();
    const XDG_CONFIG_HOME = await place.newHome();
    const refused = await place.run(["login", "--url", place.url()], { XDG_CONFIG_HOME }, "ply_wrong\n");
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toContain("invalid_api_key");
    await expect(stat(join(XDG_CONFIG_HOME, "parley"))).rejects.toThrow("ENOENT");
  });

  test("a profiles file that other users can read is not used", async () => {
    const place = placeOf();
    const XDG_CONFIG_HOME = await place.newHome();
    const path = join(XDG_CONFIG_HOME, "parley", "profiles.json");
    await mkdir(join(XDG_CONFIG_HOME, "parley"));
    await writeFile(path, JSON.stringify({ profiles: {} }));
    await chmod(path, 0o640);
    const { code, stderr } = await place.run(["organizations", "list"], { XDG_CONFIG_HOME });
    expect(code).toBe(1);
    expect(stderr).toContain(`chmod 600`);
  });
}
