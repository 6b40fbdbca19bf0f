import { createServer, type Server } from "node:http";
import { Webhook } from "standardwebhooks";
import type { Inbox, WebhookEvent } from "./inbox.ts";

/** Receives events: verifies them, stores them, and responds. They are processed later. */
export function createReceiver(secret: string, inbox: Inbox): Server {
  const webhook = new Webhook(secret);
  return createServer(async (request, response) => {
    try {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const event = verified(Buffer.concat(chunks), request.headers as Record<string, string>);
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
