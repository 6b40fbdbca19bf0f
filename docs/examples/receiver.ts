import { createServer, type Server } from "node:http";
import { Webhook } from "standardwebhooks";
import type { Inbox, WebhookEvent } from "./inbox.ts";

/** Takes events in: verifies them, stores them, and answers. What they mean is worked out later. */
export function createReceiver(secret: string, inbox: Inbox): Server {
  const webhook = new Webhook(secret);
  return createServer(async (request, response) => {
    try {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const event = verified(Buffer.concat(chunks), request.headers as Record<string, string>);
      if (event !== null) inbox.add(event); // One that is there already is a repetition, and fine.
      response.writeHead(event === null ? 401 : 204).end();
    } catch {
      response.writeHead(500).end(); // Not stored, so it has to come again.
    }
  });

  /** The body must be the bytes that came: JSON that was parsed and written again has another signature. */
  function verified(body: Buffer, headers: Record<string, string>): WebhookEvent | null {
    try {
      return webhook.verify(body, headers) as WebhookEvent;
    } catch {
      return null;
    }
  }
}
