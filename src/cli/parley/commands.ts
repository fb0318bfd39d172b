import type { Command } from "./command.ts";
import { channelCommands } from "./commands/channels.ts";
import { chatCommands } from "./commands/chats.ts";
import { doctorCommands } from "./commands/doctor.ts";
import { keyCommands } from "./commands/keys.ts";
import { loginCommands } from "./commands/login.ts";
import { memberCommands } from "./commands/members.ts";
import { messageCommands } from "./commands/messages.ts";
import { organizationCommands } from "./commands/organizations.ts";
import { statsCommands } from "./commands/stats.ts";
import { tailCommands } from "./commands/tail.ts";
import { templateCommands } from "./commands/templates.ts";

/** All that `parley` can do, in the order of its help. */
export const COMMANDS: Command[] = [
  ...organizationCommands,
  ...memberCommands,
  ...channelCommands,
  ...templateCommands,
  ...chatCommands,
  ...keyCommands,
  ...messageCommands,
  ...tailCommands,
  ...statsCommands,
  ...doctorCommands,
  ...loginCommands,
];
