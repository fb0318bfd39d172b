import { CommandError } from "../command-error.ts";

/** Lets webhooks call this machine over plain HTTP. On Cloudflare it would only weaken the check of their URLs. */
const LOCAL_ONLY = "WEBHOOKS_ALLOW_LOCAL";

const IN_CONFIGURATION = new RegExp(`^[^#\\n]*\\b${LOCAL_ONLY}\\b`, "m");
const IN_ARGUMENTS = new RegExp(`(?:^|=)${LOCAL_ONLY}:`);

/** Where a deploy gets its variables from. */
interface VariableSources {
  /** The text of `wrangler.toml`. */
  configuration: string;
  argv: readonly string[];
  /** The names of the Worker's secrets, or null if there is no Worker. */
  secrets: readonly string[] | null;
}

/** @throws CommandError if the deployed Worker would have a variable that is only for a local server */
export function refuseLocalOnly({ configuration, argv, secrets }: VariableSources): void {
  const refuse = (place: string, advice: string) => {
    throw new CommandError(`${LOCAL_ONLY} ${place}, but it is only for a local server. ${advice}`);
  };
  if (argv.some((argument) => IN_ARGUMENTS.test(argument))) refuse("is an argument", "Leave it out.");
  if (IN_CONFIGURATION.test(configuration)) refuse("is in wrangler.toml", "Remove the line.");
  if (secrets?.includes(LOCAL_ONLY))
    refuse("is a secret of the Worker", `Run npx wrangler secret delete ${LOCAL_ONLY}.`);
}
