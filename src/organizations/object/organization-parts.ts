import { StandingAlarm } from "../../platform/object/alarm.ts";
import { DueWork } from "../../platform/object/due-work.ts";
import { Adoptions } from "./adoptions.ts";
import { AuditLog } from "./audit-log.ts";
import { BotChats } from "./bot-chats.ts";
import { ChannelTable } from "./channel-table.ts";
import { ChatList } from "./chat-list.ts";
import { ChatReports } from "./chat-reports.ts";
import { ChatTable } from "./chat-table.ts";
import { ContactTable } from "./contact-table.ts";
import { Deletions } from "./deletions.ts";
import { Doorbells } from "./doorbells.ts";
import { Existence } from "./existence.ts";
import { Feed } from "./feed.ts";
import { FreedChats } from "./freed-chats.ts";
import { KeyTable } from "./key-table.ts";
import { LabelTable } from "./label-table.ts";
import { MemberNumbers } from "./member-numbers.ts";
import { MemberRecords } from "./member-records.ts";
import { MentionTable } from "./mention-table.ts";
import { Overdue } from "./overdue.ts";
import { OwnSubscriptions } from "./own-subscriptions.ts";
import { ReportPace } from "./report-pace.ts";
import { RetentionWalk } from "./retention-walk.ts";
import { SearchCleanup } from "./search-cleanup.ts";
import { SearchFill } from "./search-fill.ts";
import { SearchIndexes } from "./search-indexes.ts";
import { Settings } from "./settings.ts";
import { UnreadableChats } from "./unreadable-chats.ts";
import { WebhookStates } from "./webhook-states.ts";

/** The parts of an organization's object. Most take those that they use, and may call them once all are made. */
export class OrganizationParts {
  readonly ctx: DurableObjectState;
  readonly env: Env;
  readonly storage: DurableObjectStorage;
  readonly channels: ChannelTable;
  readonly doorbells: Doorbells;
  readonly feed: Feed;
  readonly contacts: ContactTable;
  readonly labels: LabelTable;
  readonly mentions: MentionTable;
  readonly chats: ChatTable;
  readonly reports: ChatReports;
  readonly keys: KeyTable;
  readonly memberNumbers: MemberNumbers;
  readonly list: ChatList;
  readonly settings: Settings;
  readonly webhookStates: WebhookStates;
  readonly existence: Existence;
  readonly alarm: StandingAlarm;
  readonly subscriptions: OwnSubscriptions;
  readonly members: MemberRecords;
  readonly audit: AuditLog;
  readonly pace = new ReportPace();
  readonly unreadable: UnreadableChats;
  readonly deletions: Deletions;
  readonly freed: FreedChats;
  readonly bots: BotChats;
  readonly overdue: Overdue;
  readonly searchIndexes: SearchIndexes;
  readonly searchFill: SearchFill;
  readonly searchCleanup: SearchCleanup;
  /** What the object does in its alarms, and what it forgets. */
  readonly due: DueWork;

  constructor(ctx: DurableObjectState, env: Env) {
    const { storage } = ctx;
    this.ctx = ctx;
    this.env = env;
    this.storage = storage;
    const { sql } = storage;
    const waitUntil = (work: Promise<void>) => ctx.waitUntil(work);
    const isReady = () => this.isReady();
    this.alarm = new StandingAlarm(storage);
    this.channels = new ChannelTable(sql);
    this.doorbells = new Doorbells(ctx);
    this.feed = new Feed(storage, {
      onPointer: (chatId, last) => {
        this.doorbells.ring(this.feed.newest, chatId, last);
        if (chatId === null) this.subscriptions.onEvent();
      },
      standBy: (at) => this.standBy(at),
    });
    this.contacts = new ContactTable(storage, isReady);
    this.labels = new LabelTable(storage, isReady, () => this.list.changed());
    this.mentions = new MentionTable(sql, (id) => this.freed.mentioned(id));
    this.memberNumbers = new MemberNumbers(sql, (id) => this.freed.counted(id));
    this.searchIndexes = new SearchIndexes(storage);
    this.searchCleanup = new SearchCleanup(this);
    this.chats = new ChatTable(this);
    this.reports = new ChatReports(this);
    this.keys = new KeyTable(sql);
    this.list = new ChatList(sql, this.channels, this.labels, this.contacts);
    this.settings = new Settings(env, storage, this.channels, {
      namesChanged: () => this.list.changed(),
      botsChanged: () => {
        this.list.changed();
        this.bots.begin();
      },
      retentionChanged: (ids) => walk.begin(ids),
      webhooksChanged: (list) => this.subscriptions.configure(list, this.feed.newestOwn),
    });
    this.webhookStates = new WebhookStates(storage.kv, this.settings);
    this.existence = new Existence(env, storage, this.channels, this.settings);
    this.subscriptions = new OwnSubscriptions(this);
    this.members = new MemberRecords(env, storage, this.existence);
    this.audit = new AuditLog(sql, this.existence, this.alarm);
    this.unreadable = new UnreadableChats(sql);
    const adoptions = new Adoptions(this);
    this.deletions = new Deletions(this);
    const walk = new RetentionWalk(this);
    this.freed = new FreedChats(this);
    this.bots = new BotChats(this);
    this.overdue = new Overdue(this);
    this.searchFill = new SearchFill(this);
    const { existence, members, channels, contacts, feed, subscriptions, doorbells, settings, unreadable, list } = this;
    const { deletions, audit, overdue, labels, searchIndexes, searchFill, searchCleanup } = this;
    this.due = new DueWork(
      { name: "organization", alarm: this.alarm, isReady, waitUntil },
      {
        ...{ existence, members, channels, settings, unreadable, list, doorbells },
        ...{ ...subscriptions.parts, feed, adoptions, deletions, walk, freed: this.freed, contacts, audit, overdue },
        ...{ bots: this.bots, labels, searchIndexes, searchFill, searchCleanup },
      },
    );
  }

  /** Ensures an alarm at `at` or before, Unix milliseconds. */
  standBy(at: number): void {
    this.ctx.waitUntil(this.alarm.by(at));
  }

  isReady(): boolean {
    return this.existence.isReady();
  }
}
