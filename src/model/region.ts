/** Where an organization's objects are created, as a hint to the platform. */
export const REGIONS = ["wnam", "enam", "sam", "weur", "eeur", "apac", "oc", "afr", "me"] as const;
export type Region = (typeof REGIONS)[number];
