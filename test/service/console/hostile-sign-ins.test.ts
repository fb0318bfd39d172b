import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { COUNTED_TOGETHER } from "../../../src/http/abuse-limit.ts";
import { browser, codeOf, cookieOf, OWN_PAGE } from "../../support/console.ts";
import { admin, call, created, newOrganization } from "../../support/harness.ts";
import { Random } from "../../support/random.ts";
import { pass, stopTheClock } from "../chats/object/delivery/conversation.ts";

stopTheClock();

/** What the rate limiter allows an address here, in calls for `COUNTED_TOGETHER` requests each. */
const ALLOWED_CALLS = 2;

interface Link {
  code: string;
  memberId: string;
  isReplaced: boolean;
  taken: number;
}

test.for([1, 2, 3])(
  "links that are repeated, replaced and guessed begin one session each, and only what fails is counted: seed %i",
  async (seed) => {
    const { organizationId } = await newOrganization();
    const random = new Random(seed);
    const network = `10.${seed}.7`;
    const calls = new Map<string, number>();
    vi.spyOn(env.STRANGERS, "limit").mockImplementation(async ({ key }) => {
      calls.set(key, (calls.get(key) ?? 0) + 1);
      return { success: (calls.get(key) ?? 0) <= ALLOWED_CALLS };
    });
    const members: string[] = [];
    for (const name of ["Ada", "Bo", "Cy"]) {
      members.push(created(await admin("POST", `/organizations/${organizationId}/members`, { name })).member.id);
    }
    const links: Link[] = [];
    const failed = new Map<string, number>();
    let refused = 0;
    /** Several browsers at once have the same body. */
    const take = async (address: string, body: object, browsers = 1) => {
      const headers = { ...OWN_PAGE, "CF-Connecting-IP": address };
      const tries = Array.from({ length: browsers }, () => call("POST", "/console/session", { body, headers }));
      const answers = await Promise.all(tries);
      for (const { status, text } of answers) expect([204, 401, 429], text).toContain(status);
      const count = (wanted: number) => answers.filter(({ status }) => status === wanted).length;
      failed.set(address, (failed.get(address) ?? 0) + count(401));
      refused += count(429);
      return answers.filter(({ status }) => status === 204);
    };
    for (let step = 0; step < 150; step++) {
      pass(random.pick([0, 0, 10, 100]));
      // The first one only guesses.
      const address = `${network}.${random.pick([1, 1, 2, 3])}`;
      const chance = random.next();
      if (address.endsWith(".1") || chance < 0.1) {
        const guesses = [{ token: "guessed" }, { code: `${random.pick(members)}.${"A".repeat(43)}` }];
        expect(await take(`${network}.1`, random.pick(guesses), 4)).toEqual([]);
      } else if (links.length === 0 || chance < 0.4) {
        const memberId = random.pick(members);
        const code = codeOf(created(await admin("POST", `/members/${memberId}/sign-in-link`)));
        for (const link of links) link.isReplaced ||= link.memberId === memberId;
        links.push({ code, memberId, isReplaced: false, taken: 0 });
      } else {
        const link = random.pick(links);
        const begun = await take(address, { code: link.code }, random.between(1, 3));
        link.taken += begun.length;
        if (link.isReplaced) expect(begun).toEqual([]);
        if (begun.length > 0) link.isReplaced = true;
        for (const answer of begun) {
          const { session } = (await browser(cookieOf(answer))("GET", "/session")).body;
          expect(session.member.id).toBe(link.memberId);
        }
      }
    }
    for (const { taken } of links) expect(taken).toBeLessThanOrEqual(1);
    // Beyond them, a request is answered without looking at what it has.
    for (const count of failed.values()) expect(count).toBeLessThan((ALLOWED_CALLS + 1) * COUNTED_TOGETHER);
    // Else the attack shows nothing.
    expect(refused).toBeGreaterThan(10);
    expect(links.filter(({ taken }) => taken === 1).length).toBeGreaterThan(3);
  },
);

test("a sign-in that succeeds is never counted", async () => {
  const limit = vi.spyOn(env.STRANGERS, "limit");
  const headers = { ...OWN_PAGE, "CF-Connecting-IP": "10.9.7.1" };
  for (let count = 0; count <= COUNTED_TOGETHER; count++) {
    const body = { token: env.ADMIN_TOKEN };
    expect((await call("POST", "/console/session", { body, headers })).status).toBe(204);
  }
  expect(limit).not.toHaveBeenCalled();
});
