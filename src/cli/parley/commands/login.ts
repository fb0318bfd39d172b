import { CommandError } from "../../command-error.ts";
import { command, option } from "../command.ts";
import { originOf, type ServiceConnection, tokenOf } from "../connection.ts";
import { DEFAULT_PROFILE, merged, profilesPath, readProfiles, writeProfiles } from "../profiles.ts";
import { readSecret } from "../secret-input.ts";
import { Service } from "../service.ts";

/** Saved services and their secrets. */
export const loginCommands = [
  command({
    name: "login",
    about: "Save the operator's token or an API key for a service, after checking it",
    details: `The command asks for the secret without showing it, or reads a line of standard input. It saves the secret in your
configuration folder, in a file that only you can read.`,
    options: {
      url: option("address", "The service; PARLEY_URL or the saved profile by default"),
      save: option("name", `The profile to save; ${DEFAULT_PROFILE} by default`),
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
    about: "Delete a saved profile with its secrets",
    operands: ["[name]"],
    async run({ operands, out }) {
      const name = operands.name ?? DEFAULT_PROFILE;
      const path = profilesPath(process.env);
      const { [name]: deleted, ...others } = await readProfiles(path);
      if (!deleted) throw new CommandError(`There is no profile ${JSON.stringify(name)}.`);
      await writeProfiles(path, others);
      out.note(`Deleted profile ${name} of ${deleted.url}.`);
    },
  }),
];

/** The environment wins over the profile, as in every command. */
function urlOf(connection: ServiceConnection, saved: string | undefined): string {
  return connection.urlFrom === "PARLEY_URL" ? connection.url : (saved ?? connection.url);
}
