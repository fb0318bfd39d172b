import { pairs } from "../arguments.ts";
import { command, ORGANIZATION_OPTION, YES_OPTION } from "../command.ts";
import { eraseUntilDone } from "../erase.ts";
import type { Service, ServiceRequest, ServiceResponse } from "../service.ts";

const WHOSE = `With --organization it is asked as the operator; else with the API key, which has its organization; else as
the operator of the only organization there is.`;

/** Chats, as their organization sees them, and what an operator may do to them. */
export const chatCommands = [
  command({
    name: "chats list",
    about: "An organization's chats, latest activity first",
    details: WHOSE,
    options: {
      channel: { type: "string", value: "id|kind", about: "those of one channel, or of a kind of channel" },
      contact: { type: "string", value: "address", about: "the one with this contact" },
      page: { type: "string", value: "n", about: "which page (1)" },
      before: { type: "string", value: "cht_…", about: "instead of a page: those behind this chat" },
      limit: { type: "string", value: "n", about: "rows on a page, 1 to 100 (20)" },
      ...ORGANIZATION_OPTION,
    },
    async run({ options: { organization, ...query }, service, out }) {
      const { body } = await ofOrganization(service, organization, "GET", {
        query: {
          channel: query.channel,
          contact: query.contact,
          page: query.page,
          before: query.before,
          limit: query.limit,
        },
      });
      out.list(body, "chats", [
        ["ID", "id"],
        ["CHANNEL", "channel.kind"],
        ["CONTACT", "contact.address"],
        ["NAME", "contact.name"],
        ["LAST MESSAGE", "lastMessageAt", "time"],
      ]);
    },
  }),
  command({
    name: "chats create",
    about: "The chat with a contact: a new one, or the one that there is",
    details: WHOSE,
    options: {
      channel: { type: "string", required: true, value: "chn_…", about: "the channel" },
      address: { type: "string", required: true, value: "address", about: "the contact's address on it" },
      name: { type: "string", value: "name", about: "the contact's name" },
      metadata: { type: "string", multiple: true, value: "name=value", about: "a pair of your own" },
      ...ORGANIZATION_OPTION,
    },
    async run({ options: { channel, address, name, metadata, organization }, service, out }) {
      const { body } = await ofOrganization(service, organization, "POST", {
        body: { channelId: channel, contact: { address, name }, metadata: pairs("metadata", metadata) },
      });
      out.record(body, body.chat);
    },
  }),
  command({
    name: "chats show",
    about: "One chat; for the operator also what waits in it",
    operands: ["chat"],
    async run({ operands, service, out }) {
      const path = `/chats/${operands.chat}`;
      const asOperator = service.connection.adminToken !== null;
      const { body } = await (asOperator ? service.asOperator("GET", path) : service.asClient("GET", path));
      const { chat, ...more } = body;
      out.record(body, { ...(chat as object), ...more });
    },
  }),
  command({
    name: "chats delete",
    about: "Erases a chat with its messages",
    operands: ["chat"],
    options: YES_OPTION,
    async run({ operands, options, service, out }) {
      const body = await eraseUntilDone(service, out, `/chats/${operands.chat}`, options.yes);
      out.record(body, body.chat);
    },
  }),
];

/** Calls an organization's chats as whoever may. */
async function ofOrganization(
  service: Service,
  organization: string | undefined,
  method: string,
  request: ServiceRequest,
): Promise<ServiceResponse> {
  if (organization === undefined && service.connection.apiKey) return service.asClient(method, "/chats", request);
  return service.asOperator(method, `/organizations/${await service.organization(organization)}/chats`, request);
}
