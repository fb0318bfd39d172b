// Preloaded into wrangler. Its stdin ends when `npm start` dies, even by kill -9. Then wrangler stops workerd and itself,
// so that no process keeps the port.
process.stdin.on("end", () => process.kill(process.pid, "SIGTERM"));
process.stdin.resume();
// Stdin must not keep a finished wrangler alive.
process.stdin.unref();
