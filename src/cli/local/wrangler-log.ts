import { stripVTControlCharacters } from "node:util";

// wrangler's own lines: its table of bindings, its build command, and a line for each request, which the Worker logs too.
const CHATTER =
  /^(\[custom build\]|Using secrets defined in|Your Worker has access to|Binding\s+Resource\s+Mode|env\.\w+ \(|⎔ Starting|\[wrangler:info\] (✨ |Ready on|[A-Z]+ \/)|$)/u;

/**
 * The local runtime reports this when a socket ends that the Worker itself holds, even after a clean closing handshake:
 * every refused visitor's socket. The Worker can't prevent the report, and logs its own failures.
 */
const HUNG_UP = /^(✘ \[ERROR\] Uncaught Error: Network connection lost\. ?|)$/u;

/** More lines than any object in the Worker's log has. */
const MAX_LINES = 50;

/**
 * Passes on the Worker's log lines and drops wrangler's own. wrangler prints an object on several lines, which are
 * joined again.
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

/** Passes on wrangler's errors, without empty lines and the ends of sockets. */
export function complaintLines(write: (line: string) => void): (line: string) => void {
  return (line) => {
    // It colours this line in a pipe too.
    if (!HUNG_UP.test(stripVTControlCharacters(line))) write(line);
  };
}
