import { connect } from "node:net";

/** A response as received. */
export interface Raw {
  status: number;
  head: string;
  body: string;
}

const PATIENCE_MS = 30_000;

/**
 * Sends bytes on a new connection, piece by piece, and reads until the server closes it or has sent this many
 * responses. Waits for a piece that is a function. What comes to a HEAD has no body.
 */
export function exchange(
  { hostname, port }: URL,
  pieces: readonly (string | Uint8Array | (() => Promise<unknown>))[],
  { answers = 1, isHead = false } = {},
): Promise<Raw[]> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    let heard = Buffer.alloc(0);
    const end = () => {
      socket.destroy();
      resolve(answersIn(heard, isHead));
    };
    socket.setTimeout(PATIENCE_MS, () => {
      socket.destroy();
      reject(new Error(`Nothing came in ${PATIENCE_MS} ms after: ${heard.toString("latin1")}`));
    });
    socket.on("data", (chunk: Buffer) => {
      heard = Buffer.concat([heard, chunk]);
      if (answersIn(heard, isHead).length >= answers) end();
    });
    socket.on("end", end);
    // The server closes the connection if it will not read the rest.
    socket.on("error", end);
    socket.on("connect", () => {
      write(socket, pieces).catch((error: unknown) => {
        socket.destroy();
        reject(error);
      });
    });
  });
}

/** Reads between two pieces: a server that refuses a body closes, and what was not read by then is lost. */
async function write(socket: ReturnType<typeof connect>, pieces: Parameters<typeof exchange>[1]): Promise<void> {
  for (const piece of pieces) {
    if (typeof piece === "function") await piece();
    else if (!socket.destroyed) await new Promise((sent) => socket.write(piece, sent));
    await new Promise(setImmediate);
  }
}

/** The complete responses at the beginning of the received bytes. */
function answersIn(heard: Buffer, isHead: boolean): Raw[] {
  const answers: Raw[] = [];
  let text = heard.toString("latin1");
  for (;;) {
    const end = text.indexOf("\r\n\r\n");
    if (end < 0) return answers;
    const head = text.slice(0, end);
    const length = isHead ? 0 : Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
    const isChunked = !isHead && /\r\ntransfer-encoding: chunked/i.test(head);
    const rest = text.slice(end + 4);
    const size = isChunked ? rest.indexOf("0\r\n\r\n") + 5 : length;
    if (rest.length < size || (isChunked && size < 5)) return answers;
    answers.push({ status: Number(head.slice(9, 12)), head, body: rest.slice(0, size) });
    text = rest.slice(size);
  }
}

/** The head of a request. */
export function head(line: string, headers: Record<string, string | string[]> = {}): string {
  const lines = Object.entries({ Host: "parley.test", ...headers }).flatMap(([name, value]) =>
    [value].flat().map((each) => `${name}: ${each}\r\n`),
  );
  return `${line} HTTP/1.1\r\n${lines.join("")}\r\n`;
}

/** Bytes as a chunked body: in chunks of this size, without a Content-Length. */
export function chunked(body: Uint8Array, size = 16_384): (string | Uint8Array)[] {
  const pieces: (string | Uint8Array)[] = [];
  for (let from = 0; from < body.length; from += size) {
    const chunk = body.subarray(from, from + size);
    pieces.push(`${chunk.length.toString(16)}\r\n`, chunk, "\r\n");
  }
  return [...pieces, "0\r\n\r\n"];
}
