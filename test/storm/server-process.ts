// The server of `npm start`, alone in a process group with what it starts, so that a kill meets all of it at once.
import { migrate, type ServerFiles, serve } from "../../src/cli/local/server.ts";

export interface Order {
  place: ServerFiles;
  port: number;
  vars: Record<string, string>;
  /** Whether the data is new. */
  migrates: boolean;
}

const order = JSON.parse(process.argv[2] ?? "") as Order;
const stop = new AbortController();
const log = (line: string) => void process.stdout.write(`${line}\n`);
// Our end of it closes when the storm dies.
process.stdin.on("end", () => stop.abort()).resume();

if (order.migrates) await migrate(order.place, log, stop.signal);
const { place, port, vars } = order;
const given = { help: false, ip: "127.0.0.1", port, persistTo: place.state, vars, others: [] };
process.exit(await serve(place, given, log, stop.signal));
