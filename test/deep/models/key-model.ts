/** What a request is answered because of its key. */
export type Verdict =
  | "admitted"
  | "invalid_api_key"
  | "ip_not_allowed"
  | "permission_denied"
  | "rate_limited"
  | "quota_exceeded";

export interface Rules {
  permissions: string[];
  ipAllowlist: string[];
  rateLimit: { limit: number; windowSeconds: number };
  monthlyQuota: number | null;
  /** Unix milliseconds. */
  expiresAt: number | null;
}

export interface Request {
  secret: string;
  address: string | null;
  permission: string | null;
  isolate: number;
}

export interface Window {
  limit: number;
  windowSeconds: number;
  remaining: number;
  reset: number;
}

/** Requests that were admitted, or that the service counts, in a window and in a month. */
export interface Counts {
  window: number;
  month: number;
}

type Answer = { verdict: Verdict; window: Window | null };

/**
 * A key in its plainest form: rules, a window that its first request starts, and a month's count. Beside them what is
 * promised to be inexact: an isolate may repeat a refusal of the window for a second, and the service may count units
 * ahead of their requests, at most a block at any time. What a crash or a clock's jump loses of them stays counted.
 */
export class KeyModel {
  now: number;
  rules: Rules;
  isRevoked = false;
  /** Of each secret until when it lives, Unix milliseconds; null: forever. */
  secrets: Map<string, number | null>;
  windowStart = 0;
  counted = "";
  /** What was admitted in the window and in the month. */
  admitted: Counts = { window: 0, month: 0 };
  /** What is lost, at most. */
  lost: Counts = { window: 0, month: 0 };
  /** The greatest block that the rules allowed in this window, and in this month. */
  #block: Counts = { window: 0, month: 0 };
  #isRotated = false;
  /** The newest secret that was ever admitted. */
  #newest = "";
  #remembered = new Map<string, { until: number; answer: Answer }>();
  /** By isolate, when its requests in the window were admitted. */
  #admittedAt = new Map<number, number[]>();

  constructor(now: number, rules: Rules, secret: string) {
    this.now = now;
    this.rules = rules;
    this.secrets = new Map([[secret, null]]);
  }

  /**
   * @param ahead what the service counts beside what was admitted
   * @returns what the key's object would say. If `ahead` is why it would refuse, an isolate may admit with a unit of those
   */
  ask({ secret, address, permission, isolate }: Request, ahead: Counts): Answer & { orAdmitted: boolean } {
    const name = `${isolate} ${secret} ${address} ${permission}`;
    const remembered = this.#remembered.get(name);
    const left = (remembered?.until ?? 0) - this.now;
    const orAdmitted = false;
    if (remembered && left > 0 && left <= 1_000) return { ...remembered.answer, orAdmitted };

    const window = this.window(ahead);
    const { rules } = this;
    if (!this.#lives(secret)) {
      const answer: Answer = { verdict: "invalid_api_key", window: null };
      // What no change of the key can make good again takes the place of what was remembered before.
      const isOver = this.isRevoked || !this.secrets.has(secret);
      if (isOver) this.#remembered.set(name, { until: this.now + 1_000, answer });
      return { ...answer, orAdmitted };
    }
    if (rules.ipAllowlist.length > 0 && !rules.ipAllowlist.includes(address ?? "")) {
      return { verdict: "ip_not_allowed", window, orAdmitted };
    }
    if (permission && !rules.permissions.includes(permission)) {
      return { verdict: "permission_denied", window, orAdmitted };
    }
    if (window.remaining < 1) return { verdict: "rate_limited", window, orAdmitted: this.window().remaining > 0 };
    if (this.quotaLeft(ahead) < 1) {
      return { verdict: "quota_exceeded", window, orAdmitted: this.quotaLeft() > 0 };
    }
    return { verdict: "admitted", window: { ...window, remaining: window.remaining - 1 }, orAdmitted };
  }

  /** The service admitted a request, as it may. */
  admit({ secret, isolate }: Request): void {
    if (this.secrets.get(secret) === null) this.#newest = secret;
    if (!this.#isRunning()) {
      this.windowStart = this.now;
      this.admitted.window = 0;
      this.lost.window = 0;
      this.#block.window = 0;
      this.#admittedAt.clear();
    }
    this.#admittedAt.set(isolate, [...(this.#admittedAt.get(isolate) ?? []), this.now]);
    const month = this.month();
    if (month !== this.counted) {
      this.counted = month;
      this.admitted.month = 0;
      this.lost.month = 0;
      this.#block.month = 0;
    }
    this.admitted.window++;
    this.admitted.month++;
  }

  /** The service refused a request because of the window: the isolate may repeat that. */
  refuse({ secret, address, permission, isolate }: Request, answer: Answer): void {
    const name = `${isolate} ${secret} ${address} ${permission}`;
    const left = (this.#remembered.get(name)?.until ?? 0) - this.now;
    if (answer.verdict !== "rate_limited" || !answer.window || (left > 0 && left <= 1_000)) return;
    this.#remembered.set(name, { until: Math.min(this.now + 1_000, answer.window.reset), answer });
  }

  /** Requests by other isolates, of which an isolate with a grant may not have heard. */
  unheardOf({ isolate }: Request): number {
    const others = [...this.#admittedAt].filter(([other]) => other !== isolate).flatMap(([, times]) => times);
    return others.filter((at) => at > this.now - 500).length;
  }

  /**
   * What the service counts ahead is lost.
   * @param ahead as it is seen. Nobody sees it in a window that is used up, until the limit is raised, or in a window or a
   *   month that is over, until the clock is set back
   */
  lose(ahead: Counts): void {
    const most = this.mostAhead();
    const isWindowSeen = this.#isRunning() && this.window(ahead).remaining > 0;
    const isMonthSeen = this.month() === this.counted;
    this.lost = {
      window: isWindowSeen ? ahead.window : most.window,
      month: isMonthSeen ? ahead.month : most.month,
    };
  }

  /** What of the service's count was not admitted. */
  aheadOf(counted: Counts): Counts {
    const used = this.used();
    return { window: counted.window - used.window, month: counted.month - used.month };
  }

  /** What the service may count at most beside what was admitted. */
  mostAhead(): Counts {
    const { rateLimit, monthlyQuota } = this.rules;
    const left = monthlyQuota === null ? Number.POSITIVE_INFINITY : monthlyQuota - this.used().month;
    const block = Math.max(0, Math.floor(Math.min(rateLimit.limit * 0.05, left * 0.01)));
    this.#block = { window: Math.max(this.#block.window, block), month: Math.max(this.#block.month, block) };
    return { window: this.lost.window + this.#block.window, month: this.lost.month + this.#block.month };
  }

  /** As of now: a window that ended does not count, and the reset is that of one which would begin. */
  window(ahead: Counts = { window: 0, month: 0 }): Window {
    const { limit, windowSeconds } = this.rules.rateLimit;
    const start = this.#isRunning() ? this.windowStart : this.now;
    const remaining = Math.max(0, limit - this.used().window - ahead.window);
    return { limit, windowSeconds, remaining, reset: start + windowSeconds * 1_000 };
  }

  quotaLeft(ahead: Counts = { window: 0, month: 0 }): number {
    const { monthlyQuota } = this.rules;
    return monthlyQuota === null ? Number.POSITIVE_INFINITY : monthlyQuota - this.used().month - ahead.month;
  }

  /** Of this window, and of this month, which never was before the one that was counted last. */
  used(): Counts {
    return {
      window: this.#isRunning() ? this.admitted.window : 0,
      month: this.month() === this.counted ? this.admitted.month : 0,
    };
  }

  month(): string {
    const months = [new Date(this.now).toISOString().slice(0, 7), this.counted];
    return months.sort().at(-1) ?? "";
  }

  /** What the API says of its use, if the service counts these units ahead. */
  usage(ahead: Counts) {
    const { limit, remaining, reset } = this.window(ahead);
    return {
      month: this.month(),
      used: this.used().month + ahead.month,
      quota: this.rules.monthlyQuota,
      window: { limit, remaining, reset: this.#isRunning() ? new Date(reset).toISOString() : null },
    };
  }

  /**
   * A new secret. The one before it lives on for a while, any other ends; but a rotated secret that was never admitted is
   * replaced, and the one before it keeps its end.
   */
  rotate(secret: string, overlapSeconds: number): void {
    const current = [...this.secrets.keys()].at(-1) ?? "";
    if (this.#isRotated && current !== this.#newest) this.secrets.delete(current);
    else if (overlapSeconds > 0) this.secrets = new Map([[current, this.now + overlapSeconds * 1_000]]);
    else this.secrets = new Map();
    this.secrets.set(secret, null);
    this.#isRotated = true;
  }

  isExpired(): boolean {
    return this.rules.expiresAt !== null && this.rules.expiresAt <= this.now;
  }

  /** An isolate was lost, and with it what it remembered. */
  forget(isolate: number): void {
    for (const name of this.#remembered.keys()) if (name.startsWith(`${isolate} `)) this.#remembered.delete(name);
  }

  #lives(secret: string): boolean {
    const until = this.secrets.get(secret);
    return !this.isRevoked && !this.isExpired() && until !== undefined && (until === null || until > this.now);
  }

  #isRunning(): boolean {
    return this.windowStart > 0 && this.now < this.windowStart + this.rules.rateLimit.windowSeconds * 1_000;
  }
}
