declare module "parse-prometheus-text-format" {
  export default function parse(text: string): {
    name: string;
    help: string;
    type: string;
    metrics: { labels?: Record<string, string>; value: string }[];
  }[];
}
