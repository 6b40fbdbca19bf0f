import Fastify from "fastify";
import { openInbox } from "./inbox.mjs";
import { isGenuine } from "./verify-webhook.mjs";

const { WEBHOOK_SECRET, PORT = "3000" } = process.env;
if (!WEBHOOK_SECRET) throw new Error("Set WEBHOOK_SECRET to the secret of the endpoint.");
const inbox = openInbox("inbox.jsonl");
const app = Fastify({ bodyLimit: 1_048_576 });

// A scope of its own, so that other routes still get parsed bodies.
app.register(async (webhooks) => {
  webhooks.removeAllContentTypeParsers();
  webhooks.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
  webhooks.post("/webhooks", async (request, reply) => {
    const body = request.body ?? Buffer.alloc(0);
    if (!isGenuine(WEBHOOK_SECRET, request.headers, body)) return reply.code(401).send();
    inbox.add(JSON.parse(body)); // If it throws, the response is 500, and the service sends the event again.
    return reply.code(204).send();
  });
});

await app.listen({ port: Number(PORT), host: "127.0.0.1" });
