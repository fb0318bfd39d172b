import type { Miniflare } from "miniflare";
import { startWorkers } from "../support/world/workers.ts";

/** What the bench asks its server process for. It answers one question after the other. */
export type Question =
  | { ask: "start"; options: Parameters<typeof startWorkers>[0] }
  | { ask: "sql"; worker: string; statements: { sql: string; values: (string | number | null)[] }[] }
  | { ask: "stop" };

let miniflare: Miniflare | undefined;

// A process of its own, so Miniflare's work does not slow down the driver. wrangler is not part of it.
process.on("message", (question: Question) => {
  answer(question).then(
    (value) => process.send?.({ value }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
process.on("disconnect", () => void miniflare?.dispose());

function showFaults({ level, message }: { level: string; message: string }): void {
  if (level === "error" || level === "warn") console.error(message);
}

async function answer(question: Question): Promise<unknown> {
  switch (question.ask) {
    case "start": {
      const started = await startWorkers({ ...question.options, handleStructuredLogs: showFaults });
      miniflare = started.miniflare;
      return started.urls;
    }
    case "sql": {
      const database = await miniflare?.getD1Database("DB", question.worker);
      await database?.batch(question.statements.map(({ sql, values }) => database.prepare(sql).bind(...values)));
      return null;
    }
    case "stop":
      await miniflare?.dispose();
      return null;
  }
}
