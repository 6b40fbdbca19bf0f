// app/webhooks/route.ts of a Next.js application. It runs on Node and at the edge.
import { webhooks } from "@partner-orders/sdk";
import { rejectionOf, store } from "./store.ts";

export async function POST(request: Request): Promise<Response> {
  try {
    await store(await webhooks.verify(request, process.env.WEBHOOK_SECRET ?? ""));
    return new Response(null, { status: 204 });
  } catch (error) {
    return new Response(null, { status: rejectionOf(error) });
  }
}
