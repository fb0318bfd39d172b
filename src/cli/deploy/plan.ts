/** What the deploy says of Cloudflare's plans. The numbers are those of the guide, and a test computes them. */
export const PLAN = `# The plan: Workers Free carries about 5,500 messages a day, for a trial. For customers choose Workers Paid:
# $5.00 a month with 10,000 messages, up to $6.50 with 1 million, up to $2,036.85 with 100 million, plus CPU, the objects'
# time and storage. See src/docs/deploying.md
`;
