import { realpathSync } from "node:fs";
import { createServer } from "node:http";
import { pathToFileURL } from "node:url";
import { openInbox } from "./inbox.mjs";
import { isGenuine } from "./verify-webhook.mjs";

/** Far more than any event has. */
const BODY_BYTES_MAX = 1_048_576;

/** Receives events: verifies them, stores them, and responds. They are processed later. */
export function createReceiver(secret, inbox) {
  return createServer(async (request, response) => {
    try {
      const body = await readBody(request);
      if (body === null) {
        response.writeHead(413, { connection: "close" }).end();
        return;
      }
      const genuine = isGenuine(secret, request.headers, body);
      if (genuine) inbox.add(JSON.parse(body)); // An event that is already stored is a duplicate, and a success.
      response.writeHead(genuine ? 204 : 401).end();
    } catch {
      response.writeHead(500).end(); // Not stored, so the service must send it again.
    }
  });
}

/** Anyone can send to the URL, and a signature can be checked only at the end: stop before the memory is full. */
async function readBody(request) {
  const chunks = [];
  let size = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    size += chunk.length;
    if (size > BODY_BYTES_MAX) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

// Started as a program: receives, and prints each event once.
if (process.argv[1] && import.meta.url === pathToFileURL(realpathSync(process.argv[1])).href) {
  const { WEBHOOK_SECRET, PORT = "3000" } = process.env;
  if (!WEBHOOK_SECRET) throw new Error("Set WEBHOOK_SECRET to the secret of the endpoint.");
  const inbox = openInbox("inbox.jsonl");
  createReceiver(WEBHOOK_SECRET, inbox).listen(Number(PORT), "127.0.0.1", () =>
    process.stdout.write(`Receiving at http://127.0.0.1:${PORT}\n`),
  );
  setInterval(() => {
    for (let event = inbox.next(); event !== null; event = inbox.next()) {
      process.stdout.write(`${event.type} ${event.data.order?.id ?? ""}\n`);
      inbox.done(event);
    }
  }, 200);
}
