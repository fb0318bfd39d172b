import { stripVTControlCharacters } from "node:util";

// What wrangler says of itself: its table of bindings, and a line for each request, which the Worker logs too.
const CHATTER =
  /^(Using secrets defined in|Your Worker has access to|Binding\s+Resource\s+Mode|env\.\w+ \(|⎔ Starting|\[wrangler:info\] (Ready on|[A-Z]+ \/)|$)/u;

/**
 * The local runtime reports this when a socket ends that the Worker itself holds, even after a clean closing handshake:
 * every refused visitor's socket. The Worker can't prevent the report, and logs its own failures.
 */
const HUNG_UP = /^(✘ \[ERROR\] Uncaught Error: Network connection lost\. ?|)$/u;

/** Longer than any object of the Worker's log. */
const MAX_LINES = 50;

/**
 * Passes on what a Worker logs and drops wrangler's own chatter. An object, which wrangler spreads over a line for each
 * field, becomes one line again.
 * @returns takes each line, and null at the end of the stream
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

/** Passes on what wrangler complains of, without empty lines and what it says of sockets that ended. */
export function complaintLines(write: (line: string) => void): (line: string) => void {
  return (line) => {
    // It colours this line in a pipe too.
    if (!HUNG_UP.test(stripVTControlCharacters(line))) write(line);
  };
}
