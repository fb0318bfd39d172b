// Runs the server of `npm start` in a process group of its own, so that a kill ends all its processes at once.
import { migrate, type ServerFiles, serve } from "../../../src/cli/local/server.ts";

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
// The input ends when the process of the tests ends.
process.stdin.on("end", () => stop.abort()).resume();

if (order.migrates) await migrate(order.place, log, stop.signal);
const { place, port, vars } = order;
const given = { help: false, ip: "127.0.0.1", port, persistTo: place.state, vars, others: [] };
process.exit(await serve(place, given, log, stop.signal));
