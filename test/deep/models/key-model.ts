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

/** What lasts of a key's counts. */
export interface Counts {
  windowStart: number;
  windowCount: number;
  month: string;
  monthCount: number;
}

type Answer = { verdict: Verdict; window: Window | null };

/**
 * A key in its plainest form: rules, a window that its first request starts, and a month's count. Beside them the one
 * thing that is promised to be late: an isolate may repeat a refusal of the window for a second.
 */
export class KeyModel {
  now: number;
  rules: Rules;
  isRevoked = false;
  /** Of each secret until when it lives, Unix milliseconds; null: forever. */
  secrets: Map<string, number | null>;
  counts: Counts = { windowStart: 0, windowCount: 0, month: "", monthCount: 0 };
  /** What an eviction may cost at most: what was reserved ahead with the last request. */
  block = 0;
  #lastAt: number | null = null;
  #isRotated = false;
  /** The newest secret that was ever admitted. */
  #admitted = "";
  #remembered = new Map<string, { until: number; answer: Answer }>();

  constructor(now: number, rules: Rules, secret: string) {
    this.now = now;
    this.rules = rules;
    this.secrets = new Map([[secret, null]]);
  }

  ask({ secret, address, permission, isolate }: Request): Answer {
    const name = `${isolate} ${secret} ${address} ${permission}`;
    const remembered = this.#remembered.get(name);
    const left = (remembered?.until ?? 0) - this.now;
    if (remembered && left > 0 && left <= 1_000) return remembered.answer;

    const window = this.window();
    const { rules } = this;
    const quotaLeft = rules.monthlyQuota === null ? Number.POSITIVE_INFINITY : rules.monthlyQuota - this.used();
    if (!this.#lives(secret)) {
      const answer: Answer = { verdict: "invalid_api_key", window: null };
      // What no change of the key can make good again takes the place of what was remembered before.
      const isOver = this.isRevoked || !this.secrets.has(secret);
      if (isOver) this.#remembered.set(name, { until: this.now + 1_000, answer });
      return answer;
    }
    if (rules.ipAllowlist.length > 0 && !rules.ipAllowlist.includes(address ?? "")) {
      return { verdict: "ip_not_allowed", window };
    }
    if (permission && !rules.permissions.includes(permission)) return { verdict: "permission_denied", window };
    if (window.remaining < 1) {
      const answer: Answer = { verdict: "rate_limited", window };
      this.#remembered.set(name, { until: Math.min(this.now + 1_000, window.reset), answer });
      return answer;
    }
    if (quotaLeft < 1) return { verdict: "quota_exceeded", window };

    if (this.secrets.get(secret) === null) this.#admitted = secret;
    this.#reserve(quotaLeft);
    const month = this.month();
    this.counts = {
      windowStart: this.#isRunning() ? this.counts.windowStart : this.now,
      windowCount: this.#isRunning() ? this.counts.windowCount + 1 : 1,
      month,
      monthCount: this.used() + 1,
    };
    return { verdict: "admitted", window: { ...window, remaining: window.remaining - 1 } };
  }

  /** As of now: a window that ended does not count, and the reset is that of one which would begin. */
  window(): Window {
    const { limit, windowSeconds } = this.rules.rateLimit;
    const [start, used] = this.#isRunning() ? [this.counts.windowStart, this.counts.windowCount] : [this.now, 0];
    return { limit, windowSeconds, remaining: Math.max(0, limit - used), reset: start + windowSeconds * 1_000 };
  }

  /** Of this month, which never was before the one that was counted last. */
  used(): number {
    return this.month() === this.counts.month ? this.counts.monthCount : 0;
  }

  month(): string {
    const months = [new Date(this.now).toISOString().slice(0, 7), this.counts.month];
    return months.sort().at(-1) ?? "";
  }

  /** What the API says of its use. */
  usage() {
    const { limit, remaining, reset } = this.window();
    return {
      month: this.month(),
      used: this.used(),
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
    if (this.#isRotated && current !== this.#admitted) this.secrets.delete(current);
    else if (overlapSeconds > 0) this.secrets = new Map([[current, this.now + overlapSeconds * 1_000]]);
    else this.secrets = new Map();
    this.secrets.set(secret, null);
    this.#isRotated = true;
  }

  isExpired(): boolean {
    return this.rules.expiresAt !== null && this.rules.expiresAt <= this.now;
  }

  /** The object lost its memory: what it had reserved ahead counts as used. */
  lose(counts: Counts): void {
    this.counts = counts;
    this.block = 0;
    this.#lastAt = null;
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
    const { windowStart } = this.counts;
    return windowStart > 0 && this.now < windowStart + this.rules.rateLimit.windowSeconds * 1_000;
  }

  /** Below one request a second nothing is reserved; above, 5 % of the limit and 1 % of what the quota has left at most. */
  #reserve(quotaLeft: number): void {
    const most = Math.floor(Math.min(this.rules.rateLimit.limit * 0.05, quotaLeft * 0.01));
    const isBusy = this.#lastAt !== null && this.now - this.#lastAt < 1_000;
    this.block = isBusy ? most : this.#isRunning() ? Math.min(this.block, most) : 0;
    this.#lastAt = this.now;
  }
}
