import { MAX_METRIC_ORGANIZATIONS, metricsQuery } from "../../management/metrics.ts";
import { METRIC_TYPES } from "../../management/metrics-text.ts";
import { tagged } from "../operation.ts";

const count = new Intl.NumberFormat("en-US").format(MAX_METRIC_ORGANIZATIONS);

export const metricsOperations = tagged("Statistics", [
  {
    route: "GET /metrics",
    id: "readMetrics",
    summary: "Read metrics",
    description: `Returns numbers of all organizations, their channels and their webhooks for monitoring, in the text format of OpenMetrics; in that of Prometheus if \`Accept\` is \`text/plain\`. The value of \`METRICS_TOKEN\`, if it is set, opens this route too. A page has ${count} organizations, fewer if they have many channels, oldest first, and the \`Link\` header names the next one. The numbers may be 15 seconds old. Each organization costs one call of its object. If that fails, its \`parley_organization_up\` is 0, and its other metrics are missing.`,
    query: {
      schema: metricsQuery,
      descriptions: { after: "The `after` in the `Link` header of another page. Default: the first page." },
    },
    responses: [
      {
        status: 200,
        description: "The metrics.",
        contentType: Object.values(METRIC_TYPES),
        headers: {
          Link: {
            description: 'The address of the next page, with `rel="next"`. Absent on the last page.',
            required: false,
            schema: { type: "string" },
            example: '</admin/v1/metrics?after=WzE3OTUxNjg4MDAwMDAsIm9yZ19nQjcxbnFZeDBzS2Q1SnRWIl0>; rel="next"',
          },
        },
      },
    ],
  },
]);
