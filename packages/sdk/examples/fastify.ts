import { webhooks } from "@partner-orders/sdk";
import Fastify from "fastify";
import { rejectionOf, store } from "./store.ts";

const { WEBHOOK_SECRET = "", PORT = "3000" } = process.env;
const app = Fastify({ bodyLimit: 1_048_576 });

// A scope of its own, so that other routes still get parsed bodies.
app.register(async (scope) => {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
  scope.post("/webhooks", async (request, reply) => {
    const body = (request.body as Buffer | undefined) ?? Buffer.alloc(0);
    try {
      await store(await webhooks.verify({ headers: request.headers, body }, WEBHOOK_SECRET));
      return reply.code(204).send();
    } catch (error) {
      return reply.code(rejectionOf(error)).send();
    }
  });
});

await app.listen({ port: Number(PORT), host: "127.0.0.1" });
