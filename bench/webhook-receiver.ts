import { createServer } from "node:http";

/**
 * A partner's server for webhooks, in its own process. It returns 200 at once, or after `slowMs` for one request in
 * `slowEvery`. Paths that begin with /dead never respond. `GET /stats` returns what arrived, `GET /count` how much, and
 * `DELETE /stats` clears both.
 */
const [slowEvery = "0", slowMs = "0"] = process.argv.slice(2);
const every = Number(slowEvery);

let count = 0;
/** Milliseconds from the event's own timestamp to the arrival of the request, in the order of arrival. */
let delays: number[] = [];

const server = createServer((request, response) => {
  const arrivedAt = Date.now();
  const { url = "/", method } = request;
  if (url === "/count") {
    response.end(String(count));
    return;
  }
  if (url === "/stats") {
    if (method === "DELETE") [count, delays] = [0, []];
    response.end(JSON.stringify({ count, delays }));
    return;
  }
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    if (url.startsWith("/dead")) return;
    count += 1;
    if (request.headers["x-untimed"] === undefined && delays.length < 1_000_000) {
      const at = /"timestamp":"([^"]+)"/.exec(Buffer.concat(chunks).toString("latin1"))?.[1];
      delays.push(at === undefined ? 0 : arrivedAt - Date.parse(at));
    }
    if (every > 0 && count % every === 0) setTimeout(() => response.end(), Number(slowMs));
    else response.end();
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  process.stdout.write(`http://127.0.0.1:${typeof address === "object" ? address?.port : 0}\n`);
});
