/** Whose files a web channel takes. `verified`: of visitors for whom the site vouches. */
export const UPLOADS = ["off", "verified", "everyone"] as const;
export type Uploads = (typeof UPLOADS)[number];
