/** Names an object. */
export interface Named {
  binding: "KEYS" | "ORGANIZATIONS" | "CHATS" | "CHANNELS" | "WEBHOOKS" | "SEARCH_INDEXES";
  id: string;
}

/** Statements for the storage of an object. None runs its alarm. */
export interface StepCall extends Named {
  statements: { sql: string; values: (string | number | null)[] }[];
  /** The statements run this often, with an `await` after each time. Once, if it is not given. */
  times?: number;
  /** The object that calls the other one each time; the object itself, if it is not given. */
  by?: Named;
}

/** A turn of the event loop: Unix milliseconds. */
export interface Turn {
  from: number;
  to: number;
}
