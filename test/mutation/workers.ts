/** What tests that need no Workers runtime ask of its module, `cloudflare:workers`. */
export const env = { TEST_JITTER: "" };
