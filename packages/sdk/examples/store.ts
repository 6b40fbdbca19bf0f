import { type WebhookEvent, WebhookVerificationError } from "@partner-orders/sdk";

const events = new Map<string, WebhookEvent>();

/** Stores an event once, under its id. In production a table of your database, with the id as its primary key. */
export async function store(event: WebhookEvent): Promise<void> {
  events.set(event.id, event);
}

/** The status for a request that is not genuine. Any other error is the program's: the response is 500, and the event comes again. */
export function rejectionOf(error: unknown): 401 | 413 {
  if (error instanceof WebhookVerificationError) return error.status;
  throw error;
}
