/** What the deploy says of Cloudflare's plans. The numbers are those of the guide, and a test computes them. */
export const PLAN = `# The plan: Workers Free carries about 5,500 messages a day, for a trial. For customers choose Workers Paid:
# $5.00 a month with 10,000 messages, at most $6.50 with 1 million, $2,036.85 with 100 million. See src/docs/deploying.md
`;
