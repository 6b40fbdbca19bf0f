import { readFileSync } from "node:fs";
import Fastify from "fastify";
import { compileValidator } from "../src/http/validator-compiler.ts";
import { OrderRequestSchema } from "../src/orders/creation/order-request.ts";

/**
 * The reference for the service: a Fastify server without a database. It validates and echoes the body of a creation,
 * and returns the bytes of files for reads (first argument: an order, second: a page of products).
 */
const [orderFile = "", productsFile = ""] = process.argv.slice(2);
const order = readFileSync(orderFile);
const products = readFileSync(productsFile);

const app = Fastify();
app.setValidatorCompiler(compileValidator);
app.post("/v1/orders", { schema: { body: OrderRequestSchema } }, async (request, reply) => {
  reply.code(201);
  return request.body;
});
const json = "application/json; charset=utf-8";
app.get("/v1/orders/:id", async (_request, reply) => reply.type(json).send(order));
app.get("/v1/products", async (_request, reply) => reply.type(json).send(products));
process.stdout.write(`${await app.listen({ port: 0, host: "127.0.0.1" })}\n`);
