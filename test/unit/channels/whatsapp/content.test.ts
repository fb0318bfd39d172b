import { expect, test } from "vitest";
import type { BuiltContact, Location } from "whatsapp-api-js/messages";
import type { ClientMessageRequest } from "whatsapp-api-js/types";
import type { NetworkAct, Outbound } from "../../../../src/model/network.ts";
import { fakeNetwork } from "../fake-network.ts";
import type { Json } from "../wire.ts";
import { accepted, credentials, network, outbound, PHONE_ID, refused, TOKEN, whatsapp } from "./network.ts";

const CHAT = { chatId: "cht_g0123456789ABCDE", address: "4915112345678" };
const MESSAGE = "msg_g0123456789ABCDE";
const common = {
  messaging_product: "whatsapp",
  recipient_type: "individual",
  to: "4915112345678",
  biz_opaque_callback_data: `${CHAT.chatId}.${MESSAGE}`,
} satisfies Partial<ClientMessageRequest>;
const place = { latitude: 52.5163, longitude: 13.3777 };
const success = () => Response.json({ success: true });

async function bodyOf(fields: Partial<Outbound>) {
  const sent = fakeNetwork(accepted("wamid.1"));
  await whatsapp.send(outbound(fields), credentials, network, new AbortController().signal);
  expect(sent).toHaveLength(1);
  return sent[0]?.body;
}

function act(act: NetworkAct) {
  return whatsapp.acts?.make(act, CHAT, credentials, network, new AbortController().signal);
}

test.each<[string, Json<Location>]>([
  ["coordinates alone", place],
  ["a name", { ...place, name: "Gate" }],
  ["a name and an address", { ...place, name: "Gate", address: "Pariser Platz, Berlin" }],
  ["zeros", { latitude: 0, longitude: -180 }],
])("a location with %s goes out as one, without the text", async (_, location) => {
  expect(await bodyOf({ content: "At the gate", location })).toEqual({ ...common, type: "location", location });
});

test("what a location lacks is not sent", async () => {
  const location = { ...place, name: undefined, address: undefined };
  expect(await bodyOf({ location })).toEqual({ ...common, type: "location", location: place });
});

test("contact cards go out in one message, each with a whole name and one part of it", async () => {
  const contacts = [
    { name: "Ann Lee", phones: ["+49 151 1", "+49 151 2"] },
    ...Array.from({ length: 4 }, (_, index) => ({ name: `C${index}`, phones: ["1"] })),
  ];
  const expected = contacts.map(({ name, phones }) => ({
    name: { formatted_name: name, first_name: name },
    phones: phones.map((phone) => ({ phone })),
  })) satisfies Json<BuiltContact>[];
  expect(await bodyOf({ contacts })).toEqual({ ...common, type: "contacts", contacts: expected });
});

test.each<[string, Partial<Outbound>]>([
  ["a text", {}],
  ["a location", { location: place }],
  ["cards", { contacts: [{ name: "Ann", phones: ["1"] }] }],
  ["an image", { type: "IMAGE", mediaUrl: "https://files.example/a.png" }],
  ["a template", { type: "TEMPLATE", template: { name: "hello", language: "en", parameters: [] } }],
])("%s that replies names the message that it quotes", async (_, fields) => {
  const context = { message_id: "wamid.quoted" } satisfies ClientMessageRequest["context"];
  const whole = await bodyOf(fields);
  expect(whole).not.toHaveProperty("context");
  expect(await bodyOf({ ...fields, quote: "wamid.quoted" })).toEqual({ ...(whole as object), context });
});

test.each([
  ["👍", "👍"],
  ["❤️", "❤️"],
  [null, ""],
])("the reaction %s is one request, which its status can be told from a message's", async (emoji, wire) => {
  const sent = fakeNetwork(accepted("wamid.2"));
  const reaction = { act: "react", messageId: MESSAGE, networkId: "wamid.1", emoji, at: 1_790_000_000_000 } as const;
  expect(await act(reaction)).toEqual({ outcome: "done" });
  expect(sent).toEqual([
    {
      url: `https://graph.test/v24.0/${PHONE_ID}/messages`,
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json", "user-agent": "Parley" },
      redirect: "manual",
      body: {
        ...common,
        biz_opaque_callback_data: `${CHAT.chatId}.${MESSAGE}.reaction.1790000000000`,
        type: "reaction",
        reaction: { message_id: "wamid.1", emoji: wire },
      },
    },
  ]);
});

test("a reaction to a user without a number names the user", async () => {
  const sent = fakeNetwork(accepted("wamid.2"));
  const reaction = { act: "react", messageId: MESSAGE, networkId: "wamid.1", emoji: "👍", at: 1 } as const;
  await whatsapp.acts?.make(reaction, { ...CHAT, address: "US.1" }, credentials, network, new AbortController().signal);
  expect(sent[0]?.body).toMatchObject({ recipient: "US.1" });
  expect(sent[0]?.body).not.toHaveProperty("to");
});

const read = { messaging_product: "whatsapp", status: "read", message_id: "wamid.1" };

test.each<[NetworkAct, object]>([
  [{ act: "read", networkId: "wamid.1" }, read],
  [
    { act: "typing", networkId: "wamid.1" },
    { ...read, typing_indicator: { type: "text" } },
  ],
])("%j is one request with exactly the fields that Meta names", async (shown, body) => {
  const sent = fakeNetwork(success);
  expect(await act(shown)).toEqual({ outcome: "done" });
  expect(sent.map((each) => [each.method, each.url, each.body])).toEqual([
    ["POST", `https://graph.test/v24.0/${PHONE_ID}/messages`, body],
  ]);
});

test("typing in a chat without a message of the contact is not shown, without a call", async () => {
  const sent = fakeNetwork();
  expect(await act({ act: "typing", networkId: null })).toEqual({ outcome: "not_shown" });
  expect(sent).toEqual([]);
});

test("an act that Meta refuses, holds back or does not answer says so", async () => {
  fakeNetwork(
    refused(131009, { message: "Parameter value is not valid" }),
    refused(130429, { status: 429 }),
    refused(190, { status: 401 }),
    () => Promise.reject(new Error("Network connection lost.")),
  );
  const one: NetworkAct = { act: "read", networkId: "wamid.1" };
  expect(await act(one)).toMatchObject({ outcome: "failed", code: "network_131009" });
  expect(await act(one)).toMatchObject({ outcome: "retry", wholeChannel: true });
  expect(await act(one)).toMatchObject({ outcome: "channel_broken" });
  expect(await act(one)).toMatchObject({ outcome: "unknown" });
});

test.each<[string, () => Response, string]>([
  ["a page", () => new Response("<html>OK</html>"), "unknown"],
  ["a page that says that there is nothing", () => new Response("<html>", { status: 404 }), "unknown"],
  ["JSON with a status of its own", () => Response.json({}, { status: 503 }), "retry"],
  ["JSON with status 404", () => Response.json({}, { status: 404 }), "unknown"],
])("an act that Meta answers with %s is not done", async (_what, reply, outcome) => {
  fakeNetwork(reply);
  expect(await act({ act: "read", networkId: "wamid.1" })).toMatchObject({ outcome });
});

test("WhatsApp shows reactions, read marks and typing, and each number is asked about daily", () => {
  expect(whatsapp.acts?.kinds).toEqual(["react", "read", "typing"]);
  expect(whatsapp.isAskedDaily).toBe(true);
});
