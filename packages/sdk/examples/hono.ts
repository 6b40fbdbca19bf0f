import { serve } from "@hono/node-server";
import { webhooks } from "@partner-orders/sdk";
import { Hono } from "hono";
import { rejectionOf, store } from "./store.ts";

const { WEBHOOK_SECRET = "", PORT = "3000" } = process.env;
const app = new Hono();

app.post("/webhooks", async (context) => {
  try {
    await store(await webhooks.verify(context.req.raw, WEBHOOK_SECRET));
    return context.body(null, 204);
  } catch (error) {
    return context.body(null, rejectionOf(error));
  }
});

serve({ fetch: app.fetch, port: Number(PORT), hostname: "127.0.0.1" });
