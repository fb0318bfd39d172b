// Preloaded into wrangler: our end of its stdin closes when `npm start` dies, by kill -9 too. Then it stops workerd
// and itself, so that nothing stays behind on the port.
process.stdin.on("end", () => process.kill(process.pid, "SIGTERM"));
process.stdin.resume();
// A wrangler that has finished need not wait for us.
process.stdin.unref();
