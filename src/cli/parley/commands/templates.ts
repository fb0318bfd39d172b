import { command } from "../command.ts";

/** The other actions on templates, besides those of every resource. */
export const templateCommands = [
  command({
    name: "templates sync",
    about: "Sync the templates of a channel's account from its network",
    details: "The channel's settings name the account: parley channels change chn_… --waba-id 102290129340398",
    operands: ["channel"],
    call: ({ operands, service }) => service.asOperatorOrClient("POST", `/channels/${operands.channel}/templates/sync`),
  }),
];
