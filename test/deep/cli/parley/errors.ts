import { expect, test } from "vitest";
import { createOrganization } from "../../../support/world/factories.ts";
import type { Place } from "./fixtures.ts";
import { newChat } from "./made.ts";

/** What commands say that can't be done, and their exit codes. */
export function errorTests(placeOf: () => Place): void {
  test("without a terminal, nothing is deleted or revoked unless --yes confirms it", async () => {
    const place = placeOf();
    const { organization, channelId: id, chatId, keyId } = await newChat(place);
    const refused = (action: string) => ({
      code: 2,
      stdout: "",
      stderr: `✗ ${action}? This can't be undone. Repeat the command with --yes to confirm.\n`,
    });
    expect(await place.run(["channels", "delete", id])).toEqual(refused(`Delete channel ${id} with its chats`));
    expect(await place.run(["keys", "revoke", keyId])).toEqual(refused(`Revoke key ${keyId}`));
    expect(await place.run(["redact", chatId, "msg_g1"])).toEqual(refused("Redact message msg_g1"));
    expect(await place.json(["keys", "show", keyId])).toMatchObject({ key: { revokedAt: null } });
    expect((await place.run(["organizations", "delete", organization, "--yes"])).code).toBe(0);
    expect((await place.run(["channels", "show", id])).stderr).toContain("channel_not_found");
  });

  test("an error of the service includes its code, the request id and the option of each fault", async () => {
    const place = placeOf();
    const { code, stdout, stderr } = await place.run(["organizations", "create", "--name", " ", "--owner", " "]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(
      /^✗ Validation failed \(validation_failed, request [0-9a-f-]{36}\)\.\n {2}--name: is required\n {2}--owner: is required\n$/,
    );
  });

  test("an impossible value is explained in plain words, with the name of its option", async () => {
    const place = placeOf();
    const of = ["--organization", (await createOrganization(place.world)).id];
    const faultsOf = async (...words: string[]) => {
      const { stderr } = await place.run(["keys", "create", "--name", "Shop", ...words, ...of]);
      return stderr.split("\n").slice(1, -1);
    };
    expect(await faultsOf("--rate-limit", "0/9999")).toEqual([
      "  --rate-limit (limit): must be at least 1",
      "  --rate-limit (windowSeconds): must be at most 3600",
    ]);
    expect(await faultsOf("--expires", "tomorrow")).toEqual([
      "  --expires: must be a time such as 2027-01-31T00:00:00Z",
    ]);
    expect(await faultsOf("--permission", "everything")).toEqual([
      expect.stringMatching(/^ {2}--permission: must be one of .*messages:send/),
    ]);
  });

  test.each([["members", "list"], ["stats"]])(
    "without --organization, parley %s %s lists the organizations to choose from",
    async (...words) => {
      const place = placeOf();
      const { id } = await createOrganization(place.world);
      await createOrganization(place.world);
      const { code, stdout, stderr } = await place.run(words);
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      const [head = "", candidate = ""] = stderr.split("\n");
      expect(head).toMatch(/^✗ There are \d+ organizations\. Choose one:$/);
      expect(candidate).toMatch(/^ {2}--organization org_\w+ {2}# \w+/);
      expect((await place.run([...words, "--organization", id])).code).toBe(0);
    },
  );

  test("without an answer of the service, the exit code is 1, with advice", async () => {
    const { code, stdout, stderr } = await placeOf().run(["organizations", "list"], {
      PARLEY_URL: "http://127.0.0.1:9",
      PARLEY_ADMIN_TOKEN: "token",
    });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/^✗ http:\/\/127\.0\.0\.1:9 does not answer \(\w.*\)\. Start the service with npm start/);
  });

  test("a Node that can't run TypeScript starts the Node of npm ci, and returns its exit code", async () => {
    const { code, stderr } = await placeOf().run(["nonsense"], {}, "", ["--no-experimental-strip-types"]);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: "✗ There is no such command. Run `parley --help` for a list.\n",
    });
  });
}
