import { stripVTControlCharacters } from "node:util";

// wrangler's own lines: the table of bindings, the build command, and a line for each request (the Worker logs it too).
const CHATTER =
  /^(\[custom build\]|Using secrets defined in|Your Worker has access to|Binding\s+Resource\s+Mode|env\.\w+ \(|⎔ Starting|\[wrangler:info\] (✨ |Ready on|[A-Z]+ \/)|$)/u;

/**
 * The local runtime reports this error when a socket of the Worker closes, even after a clean closing handshake. Every
 * refused visitor's socket causes it. The Worker can't prevent it, and logs its own failures.
 */
const HUNG_UP = /^(✘ \[ERROR\] Uncaught Error: Network connection lost\. ?|)$/u;

/** The runtime's own report of a call to a host that can't be reached. The Worker logs the failed call too. */
const UNREACHABLE = /^✘ \[ERROR\] (?:e = )?[\w./+-]+:\d+: (?:failed|disconnected): (.+)$/u;
/** The line after it: addresses in the runtime's binary. */
const RUNTIME_STACK = /^\s*stack: \S*workerd@/;

/** wrangler's advice to run the cron trigger by hand. `runCron` runs it. */
const CRON_ADVICE =
  /^▲ \[WARNING\] Scheduled Workers are not automatically|^ +(To manually trigger a scheduled event|curl ".*\/scheduled"$|For more details, see .*cron-triggers)/u;

/** More lines than any object in the Worker's log has. */
const MAX_LINES = 50;

/**
 * Passes on the Worker's log lines and drops wrangler's own. Joins the lines of an object, which wrangler splits.
 * @returns a function that takes each line, and null at the end of the stream
 */
export function workerLines(write: (line: string) => void): (line: string | null) => void {
  let object: string[] = [];
  const flush = () => {
    for (const line of object) write(line);
    object = [];
  };
  return function take(line) {
    if (line === null) return flush();
    if (object.length > 0) {
      object.push(line);
      if (line === "}") object = [object.map((part) => part.trim()).join(" ")];
      if (line === "}" || object.length > MAX_LINES) flush();
    } else if (line === "{") object.push(line);
    else if (!CHATTER.test(line)) write(line);
  };
}

/** Passes on wrangler's errors. Drops empty lines, the errors of closed sockets, the runtime's own stacks and advice. */
export function errorLines(write: (line: string) => void): (line: string) => void {
  return (line) => {
    // wrangler colors these lines even in a pipe.
    const plain = stripVTControlCharacters(line);
    if ([HUNG_UP, RUNTIME_STACK, CRON_ADVICE].some((each) => each.test(plain))) return;
    const [, reason] = UNREACHABLE.exec(plain) ?? [];
    write(reason === undefined ? line : `A call to another host failed: ${reason}`);
  };
}
