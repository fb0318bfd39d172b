import { eq } from "drizzle-orm";
import { type Context, Hono } from "hono";
import { callChat } from "../chats/access.ts";
import { createChat, newChatBody } from "../chats/create.ts";
import { findOwner } from "../chats/directory.ts";
import { chatsQuery, listChatsBy } from "../chats/list.ts";
import { readChat } from "../chats/read.ts";
import { needs } from "../config.ts";
import { directory } from "../db/client.ts";
import { apiKeys, channels, members, organizations, templates } from "../db/schema.ts";
import { ApiError } from "../http/errors.ts";
import { pageQuery } from "../http/pagination.ts";
import { validBody, validQuery } from "../http/validation.ts";
import { presentKey } from "../keys/key-record.ts";
import {
  channelPatch,
  createChannel,
  newChannelBody,
  patchChannel,
  presentChannel,
  readChannel,
  registerChannel,
  rotateIdentitySecret,
} from "./channels.ts";
import { eraseChannel, eraseChat, eraseOrganization } from "./erase.ts";
import { type AdminEnv, audit, authenticateOperator } from "./guard.ts";
import {
  createKey,
  keyPatch,
  newKeyBody,
  overlapBody,
  patchKey,
  readKey,
  readUsage,
  revokeKey,
  rotateKey,
} from "./keys.ts";
import {
  createMember,
  createOrganization,
  deleteMember,
  newMemberBody,
  newOrganizationBody,
  presentMember,
  presentOrganization,
} from "./organizations.ts";
import { resealAll } from "./reseal.ts";
import { listRows, rowOf } from "./rows.ts";
import {
  createTemplate,
  deleteTemplate,
  newTemplateBody,
  patchTemplate,
  presentTemplate,
  readTemplate,
  templatePatch,
} from "./templates.ts";

/** The operator's routes. Each write ends in one `audit` line. */
export const adminRoutes = new Hono<AdminEnv>();

const page = validQuery(pageQuery);
const overlap = validBody(overlapBody, { mayBeEmpty: true });
const needsSealing = needs("CREDENTIALS_KEY", "CREDENTIALS_KEY_PREVIOUS");
const needsSigning = needs("KEY_SECRET");

adminRoutes.use(needs("ADMIN_TOKEN"));
adminRoutes.use("/organizations/:id/channels", needsSealing);
adminRoutes.use("/channels/*", needsSealing);
adminRoutes.use("/reseal", needsSealing);
adminRoutes.on("POST", ["/organizations/:id/keys", "/keys/:id/rotate"], needsSigning);
adminRoutes.use(authenticateOperator());

adminRoutes
  .post("/organizations", validBody(newOrganizationBody), async (c) => {
    const created = await createOrganization(c.env, c.req.valid("json"));
    audit(c, created.organization.id);
    return c.json(created, 201);
  })
  .get("/organizations", page, async (c) => {
    const { rows, pagination } = await listRows(directory(c.env), organizations, undefined, c.req.valid("query"));
    return c.json({ organizations: rows.map(presentOrganization), pagination });
  })
  .get("/organizations/:id", async (c) => {
    return c.json({ organization: presentOrganization(await organizationOf(c)) });
  })
  .delete("/organizations/:id", async (c) => {
    const organization = await eraseOrganization(c.env, c.req.param("id"));
    audit(c, organization.id);
    return c.json({ organization });
  });

adminRoutes
  .post("/organizations/:id/members", validBody(newMemberBody), async (c) => {
    const member = await createMember(c.env, c.req.param("id"), c.req.valid("json"));
    audit(c, member.id);
    return c.json({ member }, 201);
  })
  .get("/organizations/:id/members", page, async (c) => {
    const { id } = await organizationOf(c);
    const ofOrganization = eq(members.organizationId, id);
    const { rows, pagination } = await listRows(directory(c.env), members, ofOrganization, c.req.valid("query"));
    return c.json({ members: rows.map(presentMember), pagination });
  })
  .delete("/members/:id", async (c) => {
    const member = await deleteMember(c.env, c.req.param("id"));
    audit(c, member.id);
    return c.json({ member });
  });

adminRoutes
  .post("/organizations/:id/channels", validBody(newChannelBody), async (c) => {
    const created = await createChannel(c.env, originOf(c), c.req.param("id"), c.req.valid("json"));
    audit(c, created.channel.id);
    return c.json(created, 201);
  })
  .get("/organizations/:id/channels", page, async (c) => {
    const { id } = await organizationOf(c);
    const ofOrganization = eq(channels.organizationId, id);
    const { rows, pagination } = await listRows(directory(c.env), channels, ofOrganization, c.req.valid("query"));
    return c.json({
      channels: await Promise.all(rows.map((row) => presentChannel(c.env, originOf(c), row))),
      pagination,
    });
  })
  .get("/channels/:id", async (c) => {
    return c.json({ channel: await readChannel(c.env, originOf(c), c.req.param("id")) });
  })
  .patch("/channels/:id", validBody(channelPatch), async (c) => {
    const channel = await patchChannel(c.env, originOf(c), c.req.param("id"), c.req.valid("json"));
    audit(c, channel.id);
    return c.json({ channel });
  })
  .delete("/channels/:id", async (c) => {
    const channel = await eraseChannel(c.env, originOf(c), c.req.param("id"));
    audit(c, channel.id);
    return c.json({ channel });
  })
  .post("/channels/:id/webhook", async (c) => {
    const registered = await registerChannel(c.env, originOf(c), c.req.param("id"));
    audit(c, c.req.param("id"));
    return c.json(registered);
  })
  .post("/channels/:id/identity-secret", overlap, async (c) => {
    const created = await rotateIdentitySecret(c.env, c.req.param("id"), c.req.valid("json"));
    audit(c, c.req.param("id"));
    return c.json(created, 201);
  })
  .post("/reseal", async (c) => {
    const resealed = await resealAll(c.env);
    audit(c, null);
    return c.json(resealed);
  });

adminRoutes
  .post("/organizations/:id/templates", validBody(newTemplateBody), async (c) => {
    const template = await createTemplate(c.env, c.req.param("id"), c.req.valid("json"));
    audit(c, template.id);
    return c.json({ template }, 201);
  })
  .get("/organizations/:id/templates", page, async (c) => {
    const { id } = await organizationOf(c);
    const ofOrganization = eq(templates.organizationId, id);
    const { rows, pagination } = await listRows(directory(c.env), templates, ofOrganization, c.req.valid("query"));
    return c.json({ templates: rows.map(presentTemplate), pagination });
  })
  .get("/templates/:id", async (c) => {
    return c.json({ template: await readTemplate(c.env, c.req.param("id")) });
  })
  .patch("/templates/:id", validBody(templatePatch), async (c) => {
    const template = await patchTemplate(c.env, c.req.param("id"), c.req.valid("json"));
    audit(c, template.id);
    return c.json({ template });
  })
  .delete("/templates/:id", async (c) => {
    const template = await deleteTemplate(c.env, c.req.param("id"));
    audit(c, template.id);
    return c.json({ template });
  });

adminRoutes
  .post("/organizations/:id/chats", validBody(newChatBody), async (c) => {
    const { id } = await organizationOf(c);
    const { chat, created } = await createChat(c.env, id, c.req.valid("json"));
    audit(c, chat.id);
    return c.json({ chat }, created ? 201 : 200);
  })
  .get("/organizations/:id/chats", validQuery(chatsQuery), async (c) => {
    const { id } = await organizationOf(c);
    return c.json(await listChatsBy(c.env, id, c.req.valid("query")));
  })
  .get("/chats/:id", async (c) => {
    const id = c.req.param("id");
    return c.json(await readChat(c.env, await chatOwner(c, id), id));
  })
  .delete("/chats/:id", async (c) => {
    const chat = await eraseChat(c.env, c.req.param("id"));
    audit(c, c.req.param("id"));
    return c.json({ chat });
  })
  .post("/chats/:id/messages/:messageId/redact", async (c) => {
    const id = c.req.param("id");
    const owner = await chatOwner(c, id);
    const answer = await callChat(c.env, owner, id, (chat, adoption) =>
      chat.redact(owner.organizationId, c.req.param("messageId"), adoption),
    );
    if (answer.outcome === "no_message") throw new ApiError("message_not_found");
    audit(c, c.req.param("messageId"));
    return c.json({ message: JSON.parse(answer.doc) });
  });

adminRoutes
  .post("/organizations/:id/keys", validBody(newKeyBody), async (c) => {
    const created = await createKey(c.env, c.req.param("id"), c.req.valid("json"));
    audit(c, created.key.id);
    return c.json(created, 201);
  })
  .get("/organizations/:id/keys", page, async (c) => {
    const { id } = await organizationOf(c);
    const ofOrganization = eq(apiKeys.organizationId, id);
    const { rows, pagination } = await listRows(directory(c.env), apiKeys, ofOrganization, c.req.valid("query"));
    return c.json({ keys: rows.map((row) => presentKey(row, Date.now())), pagination });
  })
  .get("/keys/:id", async (c) => {
    return c.json({ key: await readKey(c.env, c.req.param("id")) });
  })
  .patch("/keys/:id", validBody(keyPatch), async (c) => {
    const key = await patchKey(c.env, c.req.param("id"), c.req.valid("json"));
    audit(c, key.id);
    return c.json({ key });
  })
  .delete("/keys/:id", async (c) => {
    const key = await revokeKey(c.env, c.req.param("id"));
    audit(c, key.id);
    return c.json({ key });
  })
  .post("/keys/:id/rotate", overlap, async (c) => {
    const rotated = await rotateKey(c.env, c.req.param("id"), c.req.valid("json"));
    audit(c, rotated.key.id);
    return c.json(rotated, 201);
  })
  .get("/keys/:id/usage", async (c) => {
    return c.json({ usage: await readUsage(c.env, c.req.param("id")) });
  });

adminRoutes.all("/*", (c) => c.notFound());

function organizationOf(c: Context<AdminEnv>) {
  return rowOf(directory(c.env), organizations, c.req.param("id") ?? "", "organization_not_found");
}

async function chatOwner(c: Context<AdminEnv>, id: string) {
  const owner = await findOwner(directory(c.env), id);
  if (!owner) throw new ApiError("chat_not_found");
  return owner;
}

/** Where the networks reach us: the address that the operator called. */
function originOf(c: Context<AdminEnv>): string {
  return new URL(c.req.url).origin;
}
