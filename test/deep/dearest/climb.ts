import { PERMISSIONS } from "../../../src/model/permission.ts";
import type { Random } from "../../support/random.ts";
import {
  type Channel,
  createChannel,
  createChat,
  createKey,
  createOrganization,
  createTemplate,
} from "../../support/world/factories.ts";
import { caller, type World } from "../../support/world/world.ts";
import { type DearPlace, FAMILIES, type Family } from "./families.ts";

/** The dearest request of a family that was found. */
export interface Dearest {
  route: string;
  /** CPU time in ms: of all isolates, from the request to its response. */
  cost: number;
  knobs: Record<string, number>;
  status: number;
  tried: number;
}

const MESSAGES = 100;
const SEARCHED = ["\u0301\u0323", "ễ", "\ufdfa", "https://a.b/)"];

/** Makes what the requests are about: a chat with long messages, and one of each other thing. */
export async function dearPlace(world: World): Promise<{ place: DearPlace; secret: string }> {
  const organization = await createOrganization(world, { selfService: { maxKeys: 10_000 } });
  const channel = await createChannel(organization);
  const telegram: Channel = await createChannel(organization, { kind: "telegram" });
  const { id: chatId } = await createChat(channel);
  const { id: keyId, secret } = await createKey(organization, { permissions: PERMISSIONS });
  const templateId = await createTemplate(organization, { body: "{{a}}".repeat(100) });
  const api = caller(world, "/api/v1", secret);
  const { webhook } = await api("POST", "/webhooks", { url: "https://receiver.example/hook" });
  const { key } = await api("POST", "/keys", { name: "Child", permissions: ["chats:read"] });
  const { label } = await api("POST", "/labels", { name: "Refund" });
  const { reply } = await api("POST", "/replies", { name: "Bye", content: "Bye" });
  for (let n = 0; n < MESSAGES; n++) {
    const content = (SEARCHED[n % SEARCHED.length] ?? "").repeat(4_000).slice(0, 4_000);
    await api("POST", `/chats/${chatId}/messages`, { content, senderId: organization.memberId });
  }
  const place = {
    organizationId: organization.id,
    memberId: organization.memberId,
    channelId: channel.id,
    telegram: { id: telegram.id, verifyToken: telegram.webhook.verifyToken },
    chatId,
    templateId,
    keyId: key?.id ?? keyId,
    webhookId: webhook.id,
    replyId: reply.id,
    labelId: label.id,
  };
  return { place, secret };
}

/** Sends a request. @returns its status, and what it cost in ms */
export type Send = (request: ReturnType<Family["request"]>) => Promise<{ status: number; cost: number }>;

/**
 * Climbs to the dearest request of each family: it begins in several places, changes one number at a time, and keeps what
 * costs more. A request that seems dear is sent again, and the lesser cost counts.
 * @param count how many requests are made of all families together
 */
export async function dearest(place: DearPlace, send: Send, count: number, random: Random): Promise<Dearest[]> {
  const found: Dearest[] = [];
  const each = Math.max(4, Math.floor(count / FAMILIES.length));
  for (const family of FAMILIES) {
    // The first request of a route also builds what later ones use.
    await send(family.request(drawn(family, random), place));
    let best: Dearest = { route: family.route, cost: 0, knobs: {}, status: 0, tried: 0 };
    for (let tried = 1; tried <= each; tried++) {
      const isStart = tried <= each / 3;
      const knobs = isStart ? drawn(family, random) : changed(family, best.knobs, random);
      let { status, cost } = await send(family.request(knobs, place));
      if (cost > best.cost && tried < each) {
        tried++;
        cost = Math.min(cost, (await send(family.request(knobs, place))).cost);
      }
      best = cost > best.cost ? { ...best, cost, knobs, status, tried } : { ...best, tried };
    }
    found.push(best);
  }
  return found.sort((one, other) => other.cost - one.cost);
}

/** Numbers at random, often the least or the greatest. */
function drawn({ knobs }: Family, random: Random): Record<string, number> {
  return Object.fromEntries(Object.entries(knobs).map(([name, range]) => [name, oneOf(range, random)]));
}

function changed({ knobs }: Family, before: Record<string, number>, random: Random): Record<string, number> {
  const names = Object.keys(knobs);
  const name = names[Math.floor(random.next() * names.length)] ?? "";
  const [least, most] = knobs[name] ?? [0, 0];
  const at = before[name] ?? least;
  const next = random.next() < 0.4 ? Math.round(at * (random.next() < 0.7 ? 2 : 0.5)) : oneOf([least, most], random);
  return { ...before, [name]: Math.min(most, Math.max(least, next)) };
}

function oneOf([least, most]: readonly [number, number], random: Random): number {
  const at = random.next();
  return at < 0.15 ? least : at > 0.75 ? most : least + Math.floor(random.next() * (most - least + 1));
}
