import { webhooks } from "@partner-orders/sdk";
import express from "express";
import { rejectionOf, store } from "./store.ts";

const { WEBHOOK_SECRET = "", PORT = "3000" } = process.env;
const app = express();

// Above express.json(), if you use it: a parsed body has lost the bytes that were signed.
app.post("/webhooks", express.raw({ type: () => true, limit: "1mb" }), async (request, response) => {
  const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  try {
    await store(await webhooks.verify({ headers: request.headers, body }, WEBHOOK_SECRET));
    response.sendStatus(204);
  } catch (error) {
    response.sendStatus(rejectionOf(error));
  }
});

app.listen(Number(PORT), "127.0.0.1");
