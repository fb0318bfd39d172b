import { once } from "node:events";
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { Parley, type ParleyEvent, verifyWebhook } from "../../../../src/client/index.ts";
import { close, listen } from "../../../support/fake-server.ts";
import { createChannel, createChat, createKey, createOrganization } from "../../../support/world/factories.ts";
import type { Place } from "./fixtures.ts";
import { Wire } from "./wire.ts";

/** The events of an organization, and how they reach a developer's machine. */
export function eventTests(placeOf: () => Place): void {
  /** A web chat in a new organization, and a key that may also read its events. */
  const newFeed = async () => {
    const organization = await createOrganization(placeOf().world);
    const { id: chatId } = await createChat(await createChannel(organization));
    const permissions = ["messages:read", "messages:send", "events:read"];
    const { secret: apiKey } = await createKey(organization, { permissions });
    return { chatId, apiKey, parley: new Parley({ url: placeOf().url(), apiKey }) };
  };

  test("events are listed and followed through the real service, each once and in order despite a lost connection", async () => {
    const { chatId, apiKey, parley } = await newFeed();
    const wire = new Wire(placeOf().url());
    await wire.mend();
    onTestFinished(() => wire.cut());
    const follower = new Parley({ url: wire.url, apiKey });
    const numbers: (number | null)[] = [];
    for await (const { number, type } of follower.events({ from: "oldest" })) {
      numbers.push(number);
      if (type === "message.created") {
        await wire.cut();
        await parley.send(chatId, { content: "While the connection is lost" });
        await wire.mend();
      }
      if (numbers.length === 1) await parley.send(chatId, { content: "First" });
      if (numbers.length >= 6) break;
    }
    expect(numbers).toEqual([1, 2, 3, 4, 5, 6]);
    const { stdout } = await placeOf().run(["events", "--types", "chat.*"], { PARLEY_API_KEY: apiKey });
    expect(stdout).toMatch(new RegExp(`evt_\\w+ +chat\\.created +${chatId} +1 `));
  });

  test("listen forwards the service's events, signed, and continues after it was stopped", async () => {
    const place = placeOf();
    const { chatId, apiKey, parley } = await newFeed();
    const calls: { headers: Record<string, string | string[] | undefined>; body: string }[] = [];
    const server = createServer(
      (request, response) =>
        void text(request).then((body) => {
          calls.push({ headers: request.headers, body });
          response.writeHead(204).end();
        }),
    );
    const target = await listen(server, 0);
    onTestFinished(() => close(server));
    const env = { PARLEY_API_KEY: apiKey, XDG_CONFIG_HOME: await place.newHome() };
    const events: ParleyEvent[] = [];
    for (const content of ["One", "Two"]) {
      const child = place.begin(["listen", "--forward-to", target, "--types", "message.created"], env);
      onTestFinished(() => void child.kill("SIGKILL"));
      const notes = createInterface({ input: child.stderr as NodeJS.ReadableStream })[Symbol.asyncIterator]();
      await notes.next();
      const secret = String((await notes.next()).value).replace("The signing secret is ", "");
      // The first is sent while the command runs, the second while it does not.
      if (content === "One") await parley.send(chatId, { content });
      await once(child.stdout as NodeJS.ReadableStream, "data");
      const { headers, body } = calls.at(-1) as (typeof calls)[number];
      events.push(await verifyWebhook(headers, body, secret));
      child.kill("SIGTERM");
      expect(await once(child, "exit")).toEqual([0, null]);
      if (content === "One") await parley.send(chatId, { content: "Two" });
    }
    expect(calls).toHaveLength(2);
    expect(events.map(({ type, chatId: chat, data }) => [type, chat, data.message?.text])).toEqual([
      ["message.created", chatId, "One"],
      ["message.created", chatId, "Two"],
    ]);
  });
}
