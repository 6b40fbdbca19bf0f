// Starts each example, sends it the requests of REQUESTS, and prints the statuses by the name of the example.
import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import { setTimeout } from "node:timers/promises";

const requests = JSON.parse(process.env.REQUESTS);
const ports = JSON.parse(process.env.PORTS);
const statuses = {};

for (const [name, port] of Object.entries(ports)) {
  process.env.PORT = String(port);
  await import(`${process.cwd()}/${name}.ts`);
  while (!(await isListening(port))) await setTimeout(10);
  statuses[name] = [];
  for (const [headers, body] of requests) statuses[name].push(await post(port, headers, body));
}

const { POST } = await import(`${process.cwd()}/next-route.ts`);
const { default: worker } = await import(`${process.cwd()}/worker.ts`);
const handlers = { "next-route": POST, worker: (sent) => worker.fetch(sent, process.env) };
for (const [name, handle] of Object.entries(handlers)) {
  statuses[name] = [];
  for (const [headers, body] of requests) {
    const sent = new Headers();
    for (const [header, value] of Object.entries(headers))
      for (const one of [value].flat()) sent.append(header, one);
    const { status } = await handle(
      new Request("http://localhost/webhooks", { method: "POST", headers: sent, body }),
    );
    statuses[name].push(status);
  }
}
process.stdout.write(JSON.stringify(statuses), () => process.exit());

function isListening(port) {
  const socket = connect(port, "127.0.0.1");
  return Promise.race([once(socket, "connect").then(() => true), once(socket, "error").then(() => false)])
    .catch(() => false)
    .finally(() => socket.destroy());
}

/** As the service sends: names that are repeated, and bytes beyond ASCII, arrive as they are. */
async function post(port, headers, body) {
  const sending = request({
    port,
    host: "127.0.0.1",
    path: "/webhooks",
    method: "POST",
    agent: false,
    headers: { "content-type": "application/json", "content-length": Buffer.byteLength(body), ...headers },
  });
  sending.end(body);
  const [response] = await once(sending, "response");
  response.resume();
  return response.statusCode;
}
