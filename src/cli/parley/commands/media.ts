import { stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { CommandError } from "../../command-error.ts";
import { command, flag, option } from "../command.ts";
import { download, downloadTo } from "../download.ts";
import { safeFileName } from "../file-name.ts";
import { printable } from "../table.ts";

/** The file of a message, for clients with an API key. */
export const mediaCommands = [
  command({
    name: "media",
    about: "Download the file of a message",
    details: `The file gets its own name in the current folder, without characters that are unsafe there. It appears when it is
whole: a connection that is cut is continued. Nobody has looked for viruses in it.
  parley media cht_… msg_… --out - | less`,
    operands: ["chat", "message"],
    options: {
      out: option("path", "The file or the folder to write to; - is standard output"),
      force: flag("Overwrite a file that exists"),
    },
    async run({ operands: { chat, message }, options: { out: to = ".", force = false }, service, out }) {
      if (to === "-") {
        if (process.stdout.isTTY) throw new CommandError("Standard output is a terminal. Redirect it to a file.", 2);
        await download(service, { chat, message }, async () => writeOut);
        return;
      }
      const isFolder = (await stat(to).catch(() => null))?.isDirectory() ?? /[/\\]$/.test(to);
      const { path, size } = await downloadTo(
        service,
        { chat, message },
        {
          folder: isFolder ? to : dirname(to),
          nameOf: (file) => (isFolder ? safeFileName(file.fileName, message, file.contentType) : basename(to)),
          isForced: force,
        },
      );
      if (out.json) out.document({ path, size });
      else out.line(`${printable(path)}  ${size} bytes`);
    },
  }),
];

/** Waits for a slow reader, so that the file is never in memory as a whole. */
function writeOut(bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(bytes, (error) => (error ? reject(error) : resolve()));
  });
}
