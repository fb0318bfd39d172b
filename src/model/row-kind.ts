/**
 * How many rows of each kind an organization can have, unless the operator's `limits` say otherwise. All organizations
 * share one database, and a list counts its organization's rows.
 */
export const ROW_CEILINGS = { members: 1_000, templates: 1_000, channels: 200 } as const;

export type RowKind = keyof typeof ROW_CEILINGS;
