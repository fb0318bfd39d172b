import { createHash } from "node:crypto";
import { type Case, CONNECTIONS, same } from "./cases.ts";
import type { Place } from "./fixtures.ts";
import { authorized, get, post } from "./request.ts";
import { lastPage, type Sizes } from "./sizes.ts";

export const LITERAL_LIST = "literal design: list, page 1";
export const LITERAL_DEEP = "literal design: list, last page of a long chat";
export const LITERAL_SEND = "literal design: send";

const SECRET = "literal-key";
const SCHEMA = [
  "create table organizations (id text primary key, name text not null)",
  `create table api_keys (id text primary key, organization_id text not null, sender_id text not null,
     hash text not null unique, rate_limit integer not null)`,
  "create table chats (id text primary key, organization_id text not null, last_message_at integer)",
  `create table messages (id text primary key, chat_id text not null, sender_id text not null, content text not null,
     status text not null, created_at integer not null)`,
  "create index messages_by_chat on messages (chat_id, created_at, id)",
];

export function literalCases({ chat: messages, longChat }: Sizes): Case[] {
  return [
    literal(LITERAL_LIST, async (place) => {
      await chat(place, "short", messages);
      return same(get("/chats/short/messages", SECRET), 200);
    }),
    literal(LITERAL_DEEP, async (place) => {
      await chat(place, "long", longChat);
      return same(get(`/chats/long/messages?page=${lastPage(longChat)}`, SECRET), 200);
    }),
    literal(LITERAL_SEND, async (place) => {
      await chat(place, "sent", 0);
      return same(post("/chats/sent/messages", '{"content":"Hello"}', authorized(SECRET)), 201);
    }),
  ];
}

function literal(name: string, make: Case["make"]): Case {
  return { name, front: "literal", connections: CONNECTIONS, make };
}

async function chat(place: Place, id: string, messages: number): Promise<void> {
  await place.once("the literal design's tables", () => {
    const hash = createHash("sha256").update(SECRET).digest("hex");
    return place.sql("literal", [
      ...SCHEMA.map((sql) => ({ sql, values: [] })),
      {
        sql: "insert into api_keys values ('key', 'acme', 'ada', ?, 1000000000)",
        values: [hash],
      },
    ]);
  });
  await place.sql("literal", [
    { sql: "insert into chats values (?, 'acme', null)", values: [id] },
    {
      sql: `insert into messages
            with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ?2)
            select ?1 || n, ?1, 'ada', 'Your order has left our warehouse and will be with you in two to three days. (' || n || ')',
              'SENT', n + 1700000000000 from numbers where ?2 > 0`,
      values: [id, messages],
    },
  ]);
}
