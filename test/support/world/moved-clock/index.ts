import service, * as objects from "../../../../src/index.ts";
import { movedTime, moveTo, realTime } from "./clock.ts";

// biome-ignore lint/suspicious/noExplicitAny: a mixin's constructor has this type
type ObjectClass = new (...given: any[]) => { alarm(...given: unknown[]): Promise<void> };

/** The objects of a binding. */
interface Namespace {
  getByName(name: string): { ringInTime(): Promise<void> };
}

/** Where to find the object that has an alarm, and when it rings by the moved clock. */
interface Alarm {
  namespace: string;
  name: string;
  at: number;
}

/** By the ids of the objects. A clock that is moved must ring those whose time has come. */
const alarms = new Map<string, Alarm>();
/** An object that an alarm woke does not know its name. */
const names = new Map<string, string>();

/** An object whose alarms ring by the moved clock. */
function withMovedAlarms<T extends ObjectClass>(namespace: string, objectClass: T): T {
  return class extends objectClass {
    readonly #setAlarm: (at: number) => Promise<void>;
    readonly #key: string;

    constructor(...[ctx, ...rest]: ConstructorParameters<ObjectClass>) {
      const { storage, id }: DurableObjectState = ctx;
      const key = String(id);
      const [set, get, remove] = [
        storage.setAlarm.bind(storage),
        storage.getAlarm.bind(storage),
        storage.deleteAlarm.bind(storage),
      ];
      if (id.name !== undefined) names.set(key, id.name);
      const setAlarm = (at: number) => {
        alarms.set(key, { namespace, name: names.get(key) ?? "", at });
        return set(realTime(at));
      };
      Object.assign(storage, {
        setAlarm: (at: number | Date) => setAlarm(Number(at)),
        getAlarm: async () => {
          const at = await get();
          return at === null ? null : movedTime(at);
        },
        deleteAlarm: () => {
          alarms.delete(key);
          return remove();
        },
      });
      super(ctx, ...rest);
      this.#setAlarm = setAlarm;
      this.#key = key;
    }

    override alarm(...given: unknown[]): Promise<void> {
      alarms.delete(this.#key);
      return super.alarm(...given);
    }

    /** Sets the alarm again, at the same time by the moved clock. */
    async ringInTime(): Promise<void> {
      const alarm = alarms.get(this.#key);
      if (alarm) await this.#setAlarm(alarm.at);
    }
  };
}

/** It has no alarms. */
export const { SearchIndexObject } = objects;
export const ChannelObject = withMovedAlarms("CHANNELS", objects.ChannelObject);
export const ChatObject = withMovedAlarms("CHATS", objects.ChatObject);
export const KeyObject = withMovedAlarms("KEYS", objects.KeyObject);
export const OrganizationObject = withMovedAlarms("ORGANIZATIONS", objects.OrganizationObject);
export const WebhookObject = withMovedAlarms("WEBHOOKS", objects.WebhookObject);

/** `POST /moved-clock` with a time moves the clock there. All responses have its time. */
async function answer(request: Request, env: Env, ctx: ExecutionContext): Promise<Response> {
  if (new URL(request.url).pathname === "/moved-clock") {
    moveTo(Number(await request.text()));
    for (const { namespace, name } of [...alarms.values()]) {
      await (env as unknown as Record<string, Namespace>)[namespace]?.getByName(name).ringInTime();
    }
    return new Response(String(alarms.size));
  }
  const response = await service.fetch(request, env, ctx);
  if (response.webSocket) return response;
  const dated = new Response(response.body, response);
  dated.headers.set("Date", new Date().toUTCString());
  return dated;
}

export default { fetch: answer, scheduled: service.scheduled };
