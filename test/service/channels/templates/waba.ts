import { expect, onTestFinished, vi } from "vitest";
import { admin, created, newChannel, newChat, newOrganization } from "../../../support/harness.ts";
import { accept, type NetworkCall } from "../../../support/networks.ts";
import { isOfEarlierTest } from "../../../support/running-test.ts";
import { untilLength } from "../../../support/until.ts";
import { CREDENTIALS } from "../../../support/world/factories.ts";

export const WABA = "102290129340398";

type Fields = Record<string, unknown>;

/** A template as Meta lists it. */
export function listed(name: string, changes: Fields = {}): Fields {
  return {
    id: `7${name.length}${name.charCodeAt(0)}`,
    name,
    language: "en_US",
    status: "APPROVED",
    category: "UTILITY",
    parameter_format: "POSITIONAL",
    components: [{ type: "BODY", text: "Hi {{1}}" }],
    quality_score: { score: "GREEN" },
    rejected_reason: "NONE",
    ...changes,
  };
}

/** Meta with templates of one account, in pages of `pageSize`. Messages are accepted. Returns what it was sent. */
export function fakeMeta({ templates, pageSize = 100 }: { templates: unknown[]; pageSize?: number }) {
  const state = {
    templates,
    pageSize,
    lists: [] as URL[],
    messages: [] as Fields[],
    /** The files that were uploaded. */
    uploads: [] as { type: string; name: string; text: string }[],
    /** Answers a message in place of accepting it, if it is set. */
    refusal: null as (() => Response) | null,
    /** Answers in place of a list, if it is set. */
    answer: null as (() => Response) | null,
  };
  vi.stubGlobal("fetch", async (input: string, init: RequestInit = {}) => {
    const url = new URL(input);
    if (!url.pathname.endsWith("/message_templates")) {
      if (init.body instanceof ReadableStream) {
        const form = await new Response(init.body, { headers: new Headers(init.headers) }).formData();
        const file = [...form.values()].find((value) => value instanceof File);
        state.uploads.push({ type: file?.type ?? "", name: file?.name ?? "", text: (await file?.text()) ?? "" });
        if (url.pathname.endsWith("/media")) return Response.json({ id: "9001" });
        const fields = Object.fromEntries(form);
        const to = fields.chat_id as string;
        if (!isOfEarlierTest(to)) state.messages.push(fields);
        return accept({ network: "telegram", to } as NetworkCall);
      }
      const body = JSON.parse(init.body as string) as Fields;
      const to = String(body.to ?? body.chat_id);
      const network = url.pathname.includes("/bot") ? "telegram" : "whatsapp";
      if (isOfEarlierTest(to)) return accept({ network, to } as NetworkCall);
      state.messages.push(body);
      return state.refusal ? state.refusal() : accept({ network, to } as NetworkCall);
    }
    state.lists.push(url);
    if (state.answer) return state.answer();
    const from = Number(url.searchParams.get("after") ?? 0);
    const data = state.templates.slice(from, from + state.pageSize);
    const to = from + state.pageSize;
    const next = to < state.templates.length && { next: "https://graph.test/next" };
    return Response.json({ data, paging: { cursors: { after: String(to) }, ...next } });
  });
  onTestFinished(() => void vi.unstubAllGlobals());
  return state;
}

let contacts = 0;

/** An organization with synced templates, and a chat in a channel of a kind, whose contact no other test has. */
export async function chatWithTemplates(kind: "whatsapp" | "telegram" | "web", templates: object[]) {
  const meta = fakeMeta({ templates });
  const organization = await syncedOrganization();
  expect((await organization.sync()).status).toBe(200);
  const { api, organizationId, channelId: own } = organization;
  const channelId = kind === "whatsapp" ? own : await newChannel(organizationId, kind);
  const contact = `4915112345${++contacts + 100}`;
  const chat = await newChat(api, channelId, kind === "web" ? undefined : contact);
  const rows: { id: string; name: string }[] = await organization.list();
  const idOf = (name: string) => rows.find((row) => row.name === name)?.id as string;
  /** What was sent, once there are `count` calls. */
  const sent = async (count: number) => {
    await untilLength(meta.messages, count);
    return meta.messages;
  };
  return { ...organization, meta, channelId, contact, chat, idOf, sent };
}

/** An organization with a WhatsApp channel whose account is known, and a way to sync it. */
export async function syncedOrganization(settings: Fields = {}) {
  const organization = await newOrganization(settings);
  const { organizationId } = organization;
  const body = { kind: "whatsapp", name: "WA", credentials: CREDENTIALS.whatsapp, settings: { wabaId: WABA } };
  const { channel } = created(await admin("POST", `/organizations/${organizationId}/channels`, body));
  const sync = () => admin("POST", `/channels/${channel.id}/templates/sync`);
  const list = async () => (await admin("GET", `/organizations/${organizationId}/templates?limit=100`)).body.templates;
  return { ...organization, channelId: channel.id as string, webhook: channel.webhook as { url: string }, sync, list };
}
