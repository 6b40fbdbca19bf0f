import { signedHeaders } from "../src/webhooks/delivery/exchange.ts";
import { createSender } from "../src/webhooks/delivery/sender.ts";
import { newSigningSecret, signingKey } from "../src/webhooks/endpoints/secrets.ts";

/**
 * What the dispatcher is measured against: the same HTTP client and signing in a bare loop, without a database.
 * Arguments: the receiver's address, the number of requests, their concurrency, the body. Prints requests per second.
 */
const [url = "", amount = "0", parallel = "1", body = ""] = process.argv.slice(2);
const sender = createSender({ timeoutMs: 15_000, allowPrivateNetworks: true });
const keys = [signingKey(newSigningSecret())];
let left = Number(amount);
let failed = 0;
const target = new URL(url);

async function sendUntilDone(): Promise<void> {
  while (left > 0) {
    left -= 1;
    const headers = signedHeaders({ id: `evt_${left}`, timestamp: new Date(), body, keys });
    const { responseStatus } = await sender.send({ url: target, headers, body });
    if (responseStatus !== 200) failed += 1;
  }
}

const startedAt = performance.now();
await Promise.all(Array.from({ length: Number(parallel) }, sendUntilDone));
const seconds = (performance.now() - startedAt) / 1_000;
await sender.close();
if (failed > 0) throw new Error(`${failed} requests failed.`);
process.stdout.write(`${Number(amount) / seconds}\n`);
