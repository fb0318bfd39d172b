/** Statements for the storage of an object. None runs its alarm. */
export interface StepCall {
  binding: "KEYS" | "ORGANIZATIONS" | "CHATS" | "CHANNELS" | "WEBHOOKS";
  id: string;
  statements: { sql: string; values: (string | number | null)[] }[];
}
