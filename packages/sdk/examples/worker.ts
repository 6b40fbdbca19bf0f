// A worker: Cloudflare, Deno Deploy, Bun.serve. The platform gives the secret.
import { webhooks } from "@partner-orders/sdk";
import { rejectionOf, store } from "./store.ts";

export default {
  async fetch(request: Request, { WEBHOOK_SECRET }: { WEBHOOK_SECRET: string }): Promise<Response> {
    if (request.method !== "POST" || new URL(request.url).pathname !== "/webhooks")
      return new Response(null, { status: 404 });
    try {
      await store(await webhooks.verify(request, WEBHOOK_SECRET));
      return new Response(null, { status: 204 });
    } catch (error) {
      return new Response(null, { status: rejectionOf(error) });
    }
  },
};
