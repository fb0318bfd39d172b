import type { FollowedEvent } from "../../../client/event.ts";
import { command, option } from "../command.ts";
import { FILTER_OPTIONS, feedOf, fromOf, typesOf } from "../event-feed.ts";
import { type Forwarded, Forwarder, forwardTarget } from "../forward.ts";
import { listenName, listenPath, readListenState, writeListenState } from "../listen-state.ts";
import type { Output } from "../output.ts";

/** Events forwarded to a developer's own machine. */
export const listenCommands = [
  command({
    name: "listen",
    about: "Forward events to a server on your machine, signed like a webhook",
    details: `Needs no public address: the command reads the live stream of events and calls your server with each one, in order. It
prints the signing secret, and one line for each call. The API key needs events:read.
It runs until Ctrl-C. The next start continues after the last event that was forwarded, with the same secret; --from
begins elsewhere. While your server is not running, events wait. Any answer counts, so an event is not sent again after
a 500. The first start begins now.`,
    options: {
      "forward-to": {
        type: "string",
        required: true,
        value: "address",
        about: "Your server, for example http://localhost:3000/hook",
      },
      ...FILTER_OPTIONS,
      from: option("oldest|now", "Where to begin, instead of where the last run stopped"),
    },
    async run({ options, service, out }) {
      const target = forwardTarget(options["forward-to"]);
      const from = fromOf(options.from);
      const { connection } = service;
      const [path, name] = [listenPath(process.env), listenName(connection, service.requireApiKey().value)];
      let state = await readListenState(path, name);
      if (from !== undefined) state = { ...state, cursor: null };
      if (state.cursor === null && from !== "oldest") {
        // Read and saved now, so that nothing is missed if the command is stopped before the first event.
        const { body } = await service.asClient("GET", "/events", { query: { from: "now", limit: 1 } });
        state = { ...state, cursor: String(body.cursor) };
      }
      await writeListenState(path, name, state);
      // Ctrl-C is the normal end.
      for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(0));
      out.note(`Forwarding the events of ${connection.url} to ${target.href}`);
      out.note(`The signing secret is ${state.secret}`);
      const forwarder = new Forwarder(target, state.secret, (text) => out.note(text));
      const start = state.cursor === null ? { from: "oldest" as const } : { after: state.cursor };
      const filter = { ...typesOf(options.types), ...(options.channel !== undefined && { channel: options.channel }) };
      for await (const event of feedOf(service, out, { ...start, ...filter })) {
        const forwarded = await forwarder.send(event);
        state = { ...state, cursor: event.cursor };
        await writeListenState(path, name, state);
        show(event, forwarded, out);
      }
    },
  }),
];

function show({ id, type }: FollowedEvent, { status, durationMs }: Forwarded, out: Output): void {
  if (out.json) {
    out.line(JSON.stringify({ eventId: id, type, status, durationMs }));
    return;
  }
  const time = new Date().toTimeString().slice(0, 8);
  const isGood = status !== null && status >= 200 && status < 300;
  const answer = out.paint(isGood ? "green" : "red", status === null ? "no answer" : String(status));
  out.line(`${time}  ${id}  ${type.padEnd(16)}  ${answer}  ${durationMs} ms`);
}
