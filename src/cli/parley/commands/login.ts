import { CommandError } from "../../command-error.ts";
import { command } from "../command.ts";
import { type Connection, originOf, tokenOf } from "../connection.ts";
import { DEFAULT_PROFILE, merged, profilesPath, readProfiles, writeProfiles } from "../profiles.ts";
import { readSecret } from "../secret-input.ts";
import { Service } from "../service.ts";

/** Services that are remembered with their secrets. */
export const loginCommands = [
  command({
    name: "login",
    about: "Saves a secret for a service, once it has accepted it",
    details: `The secret, the operator's token or an API key, is asked for and not shown, or read as a line of standard input.
It is kept in the user's folder for configuration, in a file that only its owner can read.`,
    options: {
      url: { type: "string", value: "address", about: "the service (PARLEY_URL, else that of the profile)" },
      save: { type: "string", value: "name", about: `the profile to save it in (${DEFAULT_PROFILE})` },
    },
    async run({ options, service, out }) {
      const name = options.save ?? DEFAULT_PROFILE;
      const path = profilesPath(process.env);
      const profiles = await readProfiles(path);
      const known = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
      const url = options.url ? originOf(options.url, "--url") : urlOf(service.connection, known?.url);
      const prompt = `The operator's token or an API key for ${url} (not shown): `;
      const secret = tokenOf(await readSecret(prompt), "Standard input");
      const isKey = secret.startsWith("ply_");
      const shown = { value: secret, from: "standard input" };
      const asked = new Service({
        root: service.connection.root,
        url,
        urlFrom: "--url",
        isHere: service.connection.isHere,
        adminToken: isKey ? null : shown,
        apiKey: isKey ? shown : null,
      });
      if (isKey) await asked.asClient("GET", "/key");
      else await asked.asOperator("GET", "/organizations", { query: { limit: 1 } });
      const profile = merged(known, { url, ...(isKey ? { apiKey: secret } : { adminToken: secret }) });
      await writeProfiles(path, { ...profiles, [name]: profile });
      out.note(`Saved ${isKey ? "the API key" : "the operator's token"} for ${url} as profile ${name} in ${path}.`);
    },
  }),
  command({
    name: "logout",
    about: "Forgets a saved service and its secrets",
    operands: ["[name]"],
    async run({ operands, out }) {
      const name = operands.name ?? DEFAULT_PROFILE;
      const path = profilesPath(process.env);
      const { [name]: forgotten, ...others } = await readProfiles(path);
      if (!forgotten) throw new CommandError(`There is no profile ${JSON.stringify(name)}.`);
      await writeProfiles(path, others);
      out.note(`Forgot ${forgotten.url}, profile ${name}.`);
    },
  }),
];

/** What the environment says wins over what is saved, as everywhere. */
function urlOf(connection: Connection, saved: string | undefined): string {
  return connection.urlFrom === "PARLEY_URL" ? connection.url : (saved ?? connection.url);
}
