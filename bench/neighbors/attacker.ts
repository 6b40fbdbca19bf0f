import { ATTACKS } from "./attacks.ts";
import { startHostileReceiver } from "./hostile-receivers.ts";
import { type PartnerAccess, type PartnerClient, partnerClient } from "./partner-client.ts";

const BURST = 95;
const EVERY_MS = 105;

/** Runs one attack in its own process until it is stopped, within the default allowance of a connection. */
const [name = "", text = ""] = process.argv.slice(2);
const access = JSON.parse(text) as PartnerAccess; // Written by neighbors.ts.
const attack = ATTACKS.find((candidate) => candidate.name === name);
if (attack === undefined) throw new Error(`There is no attack ${name}.`);

/** Statuses of the responses, so that one sees that an attack still is one. */
const statuses: Record<number, number> = {};
const counted =
  (client: PartnerClient): PartnerClient =>
  async (...request) => {
    const response = await client(...request);
    statuses[response.status] = (statuses[response.status] ?? 0) + 1;
    return response;
  };

process.on("SIGTERM", () => {
  process.stdout.write(`${JSON.stringify(statuses)}\n`, () => process.exit(0));
});

await attack.run({
  ...access,
  client: counted(partnerClient(access)),
  another: (change) => counted(partnerClient({ ...access, ...change })),
  attack: async (request) => {
    let count = 0;
    for (; count < BURST; count += 1) void request(count);
    for (; ; count += 1) {
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
      void request(count);
    }
  },
  receiver: async (behavior) => (await startHostileReceiver(behavior)).url,
});
// An attack that only had to prepare something lasts until it is stopped.
setInterval(() => undefined, 1_000);
