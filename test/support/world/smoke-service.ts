import type { IncomingMessage, ServerResponse } from "node:http";
import { afterAll, beforeAll, expect, onTestFinished } from "vitest";
import type { SmokeCheck } from "../../../src/cli/parley/smoke/smoke.ts";
import { Front, type FrontOptions } from "./front.ts";
import { type Service, startService } from "./service.ts";
import { newSmokeHome, runSmoke, temporaryAt } from "./smoke.ts";

/** A service for the tests of a file, and what they do with it. */
export function smokeService() {
  let service: Service;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  async function begin(options: Partial<FrontOptions> = {}) {
    const front = await Front.begin({ target: service.url, build: () => "build-1", ...options });
    onTestFinished(() => front.end());
    const adminToken = service.secrets.ADMIN_TOKEN;
    return { url: front.url, front, adminToken, ...(await newSmokeHome()) };
  }

  const left = () => temporaryAt(service.url, service.secrets.ADMIN_TOKEN);

  /** What a run says in place of what it proves, where the front does this. */
  async function faultsBehind(options: Partial<FrontOptions>) {
    const { url, env, adminToken, marks } = await begin(options);
    const { failed } = await runSmoke({ url, env, adminToken });
    expect(await left()).toEqual([]);
    expect(await marks()).toEqual([]);
    return failed.map(({ what, found, advice }) => `${what}: ${found}. ${advice}`);
  }

  /** Begins a run, and ends it when it has deleted the old organizations. @returns what it said of that */
  async function lookForOld(url: string, env: Record<string, string>): Promise<string> {
    const stop = new AbortController();
    let said = "";
    const onCheck = ({ what, found }: SmokeCheck) => {
      if (what !== "database") return;
      said = found;
      stop.abort();
    };
    const run = runSmoke({ url, env, adminToken: service.secrets.ADMIN_TOKEN, signal: stop.signal, onCheck });
    await run.catch((error: unknown) => expect(stop.signal.aborted, String(error)).toBe(true));
    return said;
  }

  /** Creates an organization as the operator. @returns its id */
  async function organizationNamed(name: string, temporary: boolean): Promise<string> {
    const body = JSON.stringify({ name, owner: { name: "Ada" }, temporary });
    const response = await asOperator("POST", "", body);
    return ((await response.json()) as { organization: { id: string } }).organization.id;
  }

  /** Calls the service itself below `/admin/v1/organizations`. */
  function asOperator(method: string, path: string, body: string | null = null): Promise<Response> {
    const headers = { Authorization: `Bearer ${service.secrets.ADMIN_TOKEN}` };
    return fetch(new URL(`/admin/v1/organizations${path}`, service.url), { method, headers, body });
  }

  const adminToken = () => service.secrets.ADMIN_TOKEN;
  return { adminToken, begin, left, faultsBehind, lookForOld, organizationNamed, asOperator };
}

/** Answers these calls in place of the service. */
export function insteadOf(call: string, answer: (response: ServerResponse) => void): Partial<FrontOptions> {
  return {
    answers({ method, url }, response) {
      if (!`${method} ${url}`.startsWith(call)) return false;
      answer(response);
      return true;
    },
  };
}

/** The service's time, as its list says it, is an hour ahead. */
export function anHourLater(change: (request: IncomingMessage) => void = () => {}): Partial<FrontOptions> {
  return {
    answers(request, response) {
      if (request.method === "GET" && request.url?.startsWith("/admin/v1/organizations?")) {
        const writeHead = response.writeHead.bind(response);
        const date = new Date(Date.now() + 3_700_000).toUTCString();
        response.writeHead = ((status: number, given: object) => writeHead(status, { ...given, Date: date })) as never;
        change(request);
      }
      return false;
    },
  };
}
