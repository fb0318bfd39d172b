import { command } from "../command.ts";

/** The other actions on members, besides those of every resource. */
export const memberCommands = [
  command({
    name: "members sign-in-link",
    about: "Create a link that signs a member in to the console once, within 24 hours",
    details: "Whoever opens the link first is signed in as the member. A new link replaces the one before it.",
    operands: ["member"],
    async run({ operands, service, out }) {
      const { body } = await service.asOperatorOrClient("POST", `/members/${operands.member}/sign-in-link`);
      out.record(body, body);
      out.note("The link is shown only once. Send it to the member over a secure channel.");
    },
  }),
  command({
    name: "members sign-out",
    about: "Sign a member out of the console everywhere, and end its sign-in link",
    operands: ["member"],
    call: ({ operands, service }) => service.asOperatorOrClient("DELETE", `/members/${operands.member}/sessions`),
    shows: "member",
  }),
];
