import express from "express";
import { openInbox } from "./inbox.mjs";
import { isGenuine } from "./verify-webhook.mjs";

const { WEBHOOK_SECRET, PORT = "3000" } = process.env;
if (!WEBHOOK_SECRET) throw new Error("Set WEBHOOK_SECRET to the secret of the endpoint.");
const inbox = openInbox("inbox.jsonl");
const app = express();

// Above express.json(), if you use it: a parsed body has lost the bytes that were signed.
app.post("/webhooks", express.raw({ type: () => true, limit: "1mb" }), (request, response) => {
  const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  if (!isGenuine(WEBHOOK_SECRET, request.headers, body)) return response.sendStatus(401);
  inbox.add(JSON.parse(body)); // If it throws, the response is 500, and the service sends the event again.
  return response.sendStatus(204);
});

app.listen(Number(PORT), "127.0.0.1");
