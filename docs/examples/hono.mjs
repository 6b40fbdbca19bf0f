import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { openInbox } from "./inbox.mjs";
import { isGenuine } from "./verify-webhook.mjs";

const { WEBHOOK_SECRET, PORT = "3000" } = process.env;
if (!WEBHOOK_SECRET) throw new Error("Set WEBHOOK_SECRET to the secret of the endpoint.");
const inbox = openInbox("inbox.jsonl");
const app = new Hono();

app.post("/webhooks", bodyLimit({ maxSize: 1_048_576 }), async (context) => {
  const body = Buffer.from(await context.req.arrayBuffer()); // Not json(): the signature is over the bytes.
  if (!isGenuine(WEBHOOK_SECRET, context.req.header(), body)) return context.body(null, 401);
  inbox.add(JSON.parse(body)); // If it throws, the response is 500, and the service sends the event again.
  return context.body(null, 204);
});

serve({ fetch: app.fetch, port: Number(PORT), hostname: "127.0.0.1" });
