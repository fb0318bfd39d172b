import type { Command } from "./command.ts";
import { actCommands } from "./commands/acts.ts";
import { auditCommands } from "./commands/audit.ts";
import { channelCommands } from "./commands/channels.ts";
import { chatCommands } from "./commands/chats.ts";
import { doctorCommands } from "./commands/doctor.ts";
import { eventCommands } from "./commands/events.ts";
import { exportCommands } from "./commands/export.ts";
import { keyCommands } from "./commands/keys.ts";
import { limitsCommands } from "./commands/limits.ts";
import { listenCommands } from "./commands/listen.ts";
import { loginCommands } from "./commands/login.ts";
import { mediaCommands } from "./commands/media.ts";
import { memberCommands } from "./commands/members.ts";
import { messageCommands } from "./commands/messages.ts";
import { noteCommands } from "./commands/notes.ts";
import { retentionCommands } from "./commands/retention.ts";
import { scheduledCommands } from "./commands/scheduled.ts";
import { searchCommands } from "./commands/search.ts";
import { settingsCommands } from "./commands/settings.ts";
import { statsCommands } from "./commands/stats.ts";
import { tailCommands } from "./commands/tail.ts";
import { templateCommands } from "./commands/templates.ts";
import { webhookCommands } from "./commands/webhooks.ts";
import { commandsOf } from "./resource.ts";
import { RESOURCES } from "./resources.ts";

/** All commands, in the order of the help. */
export const COMMANDS: Command[] = [
  ...commandsOf(RESOURCES.organizations),
  ...commandsOf(RESOURCES.members),
  ...memberCommands,
  ...commandsOf(RESOURCES.channels),
  ...channelCommands,
  ...settingsCommands,
  ...retentionCommands,
  ...commandsOf(RESOURCES.templates),
  ...templateCommands,
  ...commandsOf(RESOURCES.replies),
  ...commandsOf(RESOURCES.labels),
  ...commandsOf(RESOURCES.chats),
  ...chatCommands,
  ...commandsOf(RESOURCES.keys),
  ...keyCommands,
  ...limitsCommands,
  ...messageCommands,
  ...mediaCommands,
  ...actCommands,
  ...searchCommands,
  ...scheduledCommands,
  ...noteCommands,
  ...tailCommands,
  ...commandsOf(RESOURCES.webhooks),
  ...webhookCommands,
  ...eventCommands,
  ...listenCommands,
  ...exportCommands,
  ...auditCommands,
  ...statsCommands,
  ...doctorCommands,
  ...loginCommands,
];
