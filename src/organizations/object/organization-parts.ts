import { callObject } from "../../platform/call-object.ts";
import { earliest, runParts, StandingAlarm } from "../../platform/object/alarm.ts";
import { Adoptions } from "./adoptions.ts";
import { AuditLog } from "./audit-log.ts";
import { ChannelTable } from "./channel-table.ts";
import { ChatList } from "./chat-list.ts";
import { ChatTable, identityOf } from "./chat-table.ts";
import { ContactTable } from "./contact-table.ts";
import { Deletions } from "./deletions.ts";
import { Doorbells } from "./doorbells.ts";
import { Existence } from "./existence.ts";
import { Feed } from "./feed.ts";
import { KeyTable } from "./key-table.ts";
import { MemberRecords } from "./member-records.ts";
import { OwnLines } from "./own-lines.ts";
import { ReportPace } from "./report-pace.ts";
import { RetentionWalk } from "./retention-walk.ts";
import { Settings } from "./settings.ts";
import { UnreadableChats } from "./unreadable-chats.ts";

/** The parts of an organization's object, each connected to those that it needs. */
export class OrganizationParts {
  readonly channels: ChannelTable;
  readonly doorbells: Doorbells;
  readonly feed: Feed;
  readonly contacts: ContactTable;
  readonly chats: ChatTable;
  readonly keys: KeyTable;
  readonly list: ChatList;
  readonly settings: Settings;
  readonly existence: Existence;
  readonly alarm: StandingAlarm;
  readonly lines: OwnLines;
  readonly members: MemberRecords;
  readonly audit: AuditLog;
  readonly pace = new ReportPace();
  readonly unreadable: UnreadableChats;
  readonly deletions: Deletions;
  readonly #adoptions: Adoptions;
  readonly #retention: RetentionWalk;

  constructor(ctx: DurableObjectState, env: Env) {
    const { storage } = ctx;
    const { kv, sql } = storage;
    const waitUntil = (work: Promise<void>) => ctx.waitUntil(work);
    const isReady = () => this.isReady();
    const organizationId = () => this.existence.id ?? "";
    this.alarm = new StandingAlarm(storage);
    const standBy = (at: number) => waitUntil(this.alarm.by(at));
    this.channels = new ChannelTable(sql);
    this.doorbells = new Doorbells(ctx);
    this.feed = new Feed(storage, {
      onPointer: (chatId, last) => {
        this.doorbells.ring(this.feed.newest, chatId, last);
        if (chatId === null) this.lines.onEvent();
      },
      standBy,
    });
    this.contacts = new ContactTable(storage);
    this.chats = new ChatTable(storage, this.channels, this.feed, this.contacts);
    this.keys = new KeyTable(sql);
    this.list = new ChatList(sql, this.channels, this.contacts);
    this.settings = new Settings(env, storage, this.channels, {
      namesChanged: () => this.list.changed(),
      retentionChanged: (ids) => this.#retention.begin(ids),
      webhooksChanged: (list) => this.lines.configure(list, this.feed.newestOwn),
    });
    this.existence = new Existence(env, storage, this.channels, this.settings);
    this.lines = new OwnLines({
      env,
      kv,
      sql,
      feed: this.feed,
      alarm: this.alarm,
      organizationId: () => this.existence.id,
      waitUntil,
    });
    this.members = new MemberRecords(env, storage, this.existence);
    this.audit = new AuditLog(sql, this.existence, this.alarm);
    this.unreadable = new UnreadableChats(sql);
    this.#adoptions = new Adoptions(
      sql,
      this.chats,
      this.channels,
      (row, channel) => callObject(env.CHATS, row.id, (chat) => chat.adopt(identityOf(organizationId(), channel, row))),
      isReady,
    );
    this.deletions = new Deletions(
      sql,
      this.chats,
      this.channels,
      ({ id, life }) => callObject(env.CHATS, id, (chat) => chat.erase(organizationId(), life)),
      isReady,
    );
    this.#retention = new RetentionWalk(sql, this.channels, {
      isReady,
      standBy,
      tell: ({ id, life }, retention) =>
        callObject(env.CHATS, id, (chat) => chat.retain(organizationId(), life, retention)),
    });
  }

  /** Whether the object has its tables. Creates nothing. */
  isReady(): boolean {
    return this.existence.isReady();
  }

  /**
   * Does what is due. None of it waits for another, and each ends after some seconds.
   * @returns false if something failed
   */
  run(): Promise<boolean> {
    return runParts("organization", {
      events: () => this.lines.start(),
      feed: () => this.feed.purge(Date.now()),
      adoption: () => this.#adoptions.run(),
      deletion: () => this.deletions.resume(),
      retention: () => this.#retention.step(Date.now()),
      contacts: () => this.contacts.fill(() => this.isReady()),
      audit: () => this.audit.purge(Date.now()),
    });
  }

  /** When `run` must be called, Unix milliseconds. Only what is asked now counts: any call may have made something due. */
  dueAt(now: number): number | null {
    return earliest([
      this.lines.dueAt(now),
      this.#adoptions.dueAt(),
      this.deletions.dueAt(now),
      this.#retention.dueAt(),
      this.contacts.dueAt(now),
      this.feed.dueAt(now),
      this.audit.dueAt(),
    ]);
  }

  /** The storage was deleted. */
  forget(): void {
    this.existence.forget();
    this.members.forget();
    this.channels.forget();
    this.contacts.forget();
    this.feed.forget();
    this.lines.forget();
    this.doorbells.closeAll();
    this.settings.forget();
    this.unreadable.forget();
    this.list.changed();
    this.alarm.gone();
  }
}
