import { createServer, type IncomingMessage, type Server } from "node:http";
import { Webhook } from "standardwebhooks";
import type { Inbox, WebhookEvent } from "./inbox.ts";

/** Far more than any event has. */
const BODY_BYTES_MAX = 1_048_576;

/** Receives events: verifies them, stores them, and responds. They are processed later. */
export function createReceiver(secret: string, inbox: Inbox): Server {
  const webhook = new Webhook(secret);
  return createServer(async (request, response) => {
    try {
      const body = await readBody(request);
      if (body === null) {
        response.writeHead(413, { connection: "close" }).end();
        return;
      }
      const event = verified(body, request.headers as Record<string, string>);
      if (event !== null) inbox.add(event); // An event that is already stored is a duplicate, and a success.
      response.writeHead(event === null ? 401 : 204).end();
    } catch {
      response.writeHead(500).end(); // Not stored, so the service must send it again.
    }
  });

  /** The body must be the received bytes: JSON that was parsed and serialized again has another signature. */
  function verified(body: Buffer, headers: Record<string, string>): WebhookEvent | null {
    try {
      return webhook.verify(body, headers) as WebhookEvent;
    } catch {
      return null;
    }
  }
}

/** Anyone can send to the URL, and a signature can be checked only at the end: stop before the memory is full. */
async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    size += chunk.length;
    if (size > BODY_BYTES_MAX) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
