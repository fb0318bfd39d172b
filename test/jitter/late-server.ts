import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { Delays, settingsOf } from "./delays.ts";
import { testFile } from "./test-file.ts";

let servers = 0;

/** Each request comes late to the server, and each answer goes out late, as `JITTER` says. */
export function makeLate(server: Server): void {
  const settings = settingsOf(process.env.JITTER);
  if (!settings) return;
  const delays = new Delays(settings.mode, settings.seed, `${testFile()} server ${++servers}`);
  const emit = server.emit.bind(server) as (name: string | symbol, ...given: unknown[]) => boolean;
  server.emit = (name: string | symbol, ...given: unknown[]) => {
    if (name !== "request") return emit(name, ...given);
    const [request, response] = given as [IncomingMessage, ServerResponse];
    answerLate(response, delays);
    later(delays, () => emit(name, request, response));
    return true;
  };
}

function answerLate(response: ServerResponse, delays: Delays): void {
  const end = response.end.bind(response) as (...given: unknown[]) => ServerResponse;
  response.end = ((...given: unknown[]) => {
    later(delays, () => end(...given));
    return response;
  }) as ServerResponse["end"];
}

function later(delays: Delays, step: () => void): void {
  const ms = delays.next();
  if (ms === 0) step();
  else setTimeout(step, ms);
}
