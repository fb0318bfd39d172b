import type { SendBody } from "../../../src/model/message.ts";
import type { LengthSink } from "../objects/fixed-length-stream.ts";
import type { SimulatedObject } from "../objects/object.ts";
import type { Party } from "../objects/party.ts";
import { CALLER, type Isolate, Requests } from "../objects/requests.ts";
import type { Clients } from "./clients.ts";
import type { FileJudge, Uploaded } from "./file-judge.ts";
import type { Service } from "./load-service.ts";
import type { LifeWorld } from "./rules.ts";

const MINUTE = 60_000;
const DAY = 86_400_000;
const CONTENT_TYPE = "application/pdf";

type Chunk = { done: false; value: Uint8Array } | { done: true };

/** Clients that upload files and send them. */
export class Uploads extends Requests {
  readonly #service: Service;
  readonly #judge: FileJudge;
  readonly #clients: Clients;
  readonly #world: LifeWorld;
  /** The uploads that had an idempotency key. */
  readonly #keyed: Uploaded[] = [];
  /** The ids that clients know, by chat. */
  readonly #ids = new Map<string, string[]>();

  constructor(
    world: LifeWorld,
    service: Service,
    isolates: readonly Isolate[],
    { judge, clients }: { judge: FileJudge; clients: Clients },
  ) {
    super(world, isolates);
    this.#world = world;
    this.#service = service;
    this.#judge = judge;
    this.#clients = clients;
  }

  /** A file is uploaded, perhaps once more or twice at once, or one that is known is named. */
  act(chat: SimulatedObject): void {
    const world = this.#world;
    const known = this.#ids.get(chat.name) ?? [];
    world.pick([
      () => this.#begin(chat),
      () => this.#begin(chat),
      () => this.#begin(chat),
      () => this.#repeat(),
      () => this.#outrun(chat),
      () => known.length > 0 && this.#send(chat, world.pick(known)),
    ])();
  }

  /** Files that nobody sends. */
  leave(chat: SimulatedObject, count: number): void {
    for (let n = 0; n < count; n++) this.#upload(this.#newUpload(chat, false), () => {});
  }

  /** Two uploads with the same key: the first one's file is sent and redacted while the other's body arrives. */
  #outrun(chat: SimulatedObject): void {
    const world = this.#world;
    const upload = this.#newUpload(chat, true);
    const redact = (id: string) => {
      for (const messageId of this.#judge.showing(chat, id)) this.#clients.redact(chat, messageId);
    };
    this.#upload(upload, (id) => {
      this.#clients.send(chat, { mediaId: id });
      world.after(5_000, () => redact(id));
    });
    this.#upload(upload, () => {}, world.between(1_000, 290_000));
  }

  #newUpload(chat: SimulatedObject, isKeyed: boolean): Uploaded {
    const name = this.name("file");
    const bytes = `%PDF-1.4 ${name}${"x".repeat(this.#world.between(60, 200))}`;
    return { chatId: chat.name, idempotencyKey: isKeyed ? name : null, fileName: `${name}.pdf`, bytes };
  }

  #begin(chat: SimulatedObject): void {
    const upload = this.#newUpload(chat, this.#world.random() < 0.6);
    const { idempotencyKey } = upload;
    if (idempotencyKey !== null) {
      this.#keyed.push(upload);
      const ms = this.#world.between(0, this.#world.pick([100, 5_000, 11 * MINUTE]));
      if (this.#world.random() < 0.4) this.#world.after(ms, () => this.#upload(upload, () => {}));
    }
    this.#upload(upload, (id) => {
      const ids = this.#ids.get(chat.name) ?? [];
      this.#ids.set(chat.name, [...ids, id]);
      const ms = this.#world.pick([0, 0, 500, MINUTE, DAY - MINUTE, DAY]);
      if (this.#world.random() < 0.8) this.#world.after(ms, () => this.#send(chat, id));
    });
  }

  /** The same upload again, now and then with other bytes. */
  #repeat(): void {
    if (this.#keyed.length === 0) return;
    const upload = this.#world.random() < 0.7 ? (this.#keyed.at(-1) as Uploaded) : this.#world.pick(this.#keyed);
    const isOther = this.#world.random() < 0.1;
    this.#upload(isOther ? { ...upload, bytes: `${upload.bytes}x` } : upload, () => {});
  }

  #send(chat: SimulatedObject, mediaId: string): void {
    const world = this.#world;
    const type = world.random() < 0.3 ? { type: "DOCUMENT" as const } : {};
    const ahead = world.pick([1_000, 10 * MINUTE, 2 * DAY]);
    const time = world.random() < 0.5 ? { scheduledAt: world.now + ahead } : {};
    const expiry =
      world.random() < 0.3 ? { expiresAt: (time.scheduledAt ?? world.now) + world.pick([1_000, MINUTE]) } : {};
    this.#clients.send(chat, { mediaId, ...type, ...time, ...expiry } satisfies Partial<SendBody>);
  }

  /** @param lateMs how late the second part of the body arrives; null for any time */
  #upload(upload: Uploaded, then: (id: string) => void, lateMs: number | null = null): void {
    const { chatId, idempotencyKey, fileName, bytes } = upload;
    // Without a key, another try is another upload.
    const tries = idempotencyKey === null ? this.maxTries - 1 : 0;
    const headers = new Headers({ "Content-Type": CONTENT_TYPE, "Content-Length": String(bytes.length) });
    this.request(
      "upload",
      async ({ env, party }) => {
        const request = { headers, body: this.#body(party, bytes, lateMs) } as unknown as Request;
        const named = { fileName, idempotencyKey };
        const answer = await this.#service.uploadMedia(env, CALLER, chatId, request, named, async () => null);
        const { id } = JSON.parse(answer.doc) as { id: string };
        this.#world.count(answer.replayed ? "an upload is replayed" : "an upload is stored");
        this.#judge.uploaded(upload, answer.doc);
        then(id);
      },
      tries,
    );
  }

  /** A body that arrives in two parts: soon, late, never or cut. */
  #body(party: Party, bytes: string, lateMs: number | null) {
    const world = this.#world;
    const isCut = world.fault("body cut", 0.05);
    const chunks = [bytes.slice(0, 70), isCut ? "" : bytes.slice(70)].filter((chunk) => chunk !== "");
    let isCanceled = false;
    let give: (chunk: Chunk) => void = () => {};
    const read = () =>
      new Promise<Chunk>((resolve) => {
        give = resolve;
        const chunk = isCanceled ? undefined : chunks.shift();
        const value = chunk === undefined ? undefined : new TextEncoder().encode(chunk);
        const isLate = value && chunks.length === 0 && world.fault("body late", 0.3);
        const last = isLate ? world.pick([5_000, 2 * MINUTE, 290_000, 20 * MINUTE]) : 1;
        const ms = chunks.length === 0 ? (lateMs ?? last) : 1;
        party.timer(ms, () => resolve(value ? { done: false, value } : { done: true }));
      });
    const cancel = async () => {
      isCanceled = true;
      give({ done: true });
    };
    const pipeTo = async (sink: LengthSink) => {
      const writer = sink.getWriter();
      for (let chunk = await read(); !chunk.done; chunk = await read()) await writer.write(chunk.value);
      sink.end(isCanceled ? new Error("The body was canceled") : null);
    };
    const closed = new Promise(() => {});
    return { getReader: () => ({ read, cancel, releaseLock: () => {}, closed }), locked: false, pipeTo };
  }
}
