/** The redactions that the list of chats may not know yet. Storage has their seqs, so that they can be repeated. */
export class RedactionReports {
  readonly #kv: SyncKvStorage;
  readonly #report: () => Promise<boolean>;
  /** The seqs of the reports that requests wait for. */
  readonly #underWay = new Set<number>();

  /** @param report reports the chat's state; false if the organization's object does not answer */
  constructor({ kv }: DurableObjectStorage, report: () => Promise<boolean>) {
    this.#kv = kv;
    this.#report = report;
  }

  /** Whether a report failed, and a request may repeat it. */
  isOpen(seq: number): boolean {
    return this.#kv.get(keyOf(seq)) === true && !this.#underWay.has(seq);
  }

  /** Call it before the message is blank: after a failure, the redaction can be repeated until it is reported. */
  open(seq: number): void {
    this.#kv.put(keyOf(seq), true);
  }

  /** Reports a redaction. @returns whether the list of chats shows nothing of the text */
  async settle(seq: number): Promise<boolean> {
    this.#underWay.add(seq);
    const isReported = await this.#report().finally(() => this.#underWay.delete(seq));
    if (isReported) this.#kv.delete(keyOf(seq));
    return isReported;
  }
}

function keyOf(seq: number): string {
  return `unreported ${seq}`;
}
