import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { made, orderBody, type PartnerAccess, partnerClient } from "./partner-client.ts";

/** One operation or event of the victim, `at` the time it began, in milliseconds since 1970. */
export type Sample = {
  /** `staff`: a list or a search of the operator or the warehouse in the back office. */
  kind: "read" | "order" | "event" | "staff";
  at: number;
  ms: number;
  /** 0 without a response. */
  status: number;
};

/** The victim's own process prints this when it has ended. */
export type VictimReport = {
  samples: Sample[];
  /** Orders with a 201 whose event has not arrived, by the time they were created. */
  missingSince: number[];
};

const READ_EVERY_MS = 200;
const ORDER_EVERY_MS = 400;
const STAFF_EVERY_MS = 500;
/** What people of the operator and of the warehouse have open, and search. */
const STAFF_PATHS = ["/api/orders?limit=50", "/api/work-list?limit=50", "/api/search?q=victim-1"];
/** How long the victim waits at the end for events that are still on their way. */
const EVENTS_WITHIN_MS = 5_000;

/**
 * A partner with normal traffic: five reads and two and a half orders a second, at fixed times whatever the responses take, and
 * one healthy endpoint; beside it, two lists or searches a second of operator and warehouse. Its own process, so that nothing else delays it. Prints `ready`, and after a line on its input
 * its report.
 */
async function main(access: PartnerAccess): Promise<void> {
  const samples: Sample[] = [];
  const createdAt = new Map<string, number>();
  const arrived = new Set<string>();

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const event = JSON.parse(Buffer.concat(chunks).toString()) as {
        timestamp: string;
        data: { order?: { externalOrderId: string } };
      }; // The service's own events.
      response.end();
      const id = event.data.order?.externalOrderId;
      if (id === undefined || arrived.has(id)) return;
      arrived.add(id);
      const at = Date.parse(event.timestamp);
      samples.push({ kind: "event", at, ms: Date.now() - at, status: 200 });
    });
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));

  const client = partnerClient(access);
  const warehouse = await made(access, "/api/tokens", { name: "Warehouse", role: "warehouse" });
  const staff = [access.backOffice.operatorToken, warehouse["token"] ?? ""].map((token) =>
    partnerClient({ ...access, url: access.backOffice.url, key: token }),
  );
  const { port } = server.address() as AddressInfo; // It listens on TCP.
  const endpoint = await client("POST", "/v1/webhook-endpoints", { url: `http://127.0.0.1:${port}/` });
  if (endpoint.status !== 201) throw new Error(`The victim's endpoint: ${endpoint.status} ${endpoint.text}`);

  async function call(
    kind: "read" | "order" | "staff",
    request: () => Promise<{ status: number }>,
  ): Promise<void> {
    const at = Date.now();
    const { status } = await request();
    samples.push({ kind, at, ms: Date.now() - at, status });
  }
  let count = 0;
  let asked = 0;
  const timers = [
    setInterval(() => {
      const path = STAFF_PATHS[asked % STAFF_PATHS.length] ?? "";
      const asking = staff[asked % staff.length];
      asked += 1;
      if (asking !== undefined) void call("staff", () => asking("GET", path));
    }, STAFF_EVERY_MS),
    setInterval(() => void call("read", () => client("GET", "/v1/me")), READ_EVERY_MS),
    setInterval(() => {
      count += 1;
      const externalOrderId = `victim-${count}`;
      const at = Date.now();
      void call("order", async () => {
        const response = await client("POST", "/v1/orders", orderBody(access.productIds, externalOrderId));
        if (response.status === 201) createdAt.set(externalOrderId, at);
        return response;
      });
    }, ORDER_EVERY_MS),
  ];
  process.stdout.write("ready\n");
  for await (const _ of createInterface({ input: process.stdin })) break;
  for (const timer of timers) clearInterval(timer);

  const missing = () => [...createdAt].filter(([id]) => !arrived.has(id)).map(([, at]) => at);
  const until = Date.now() + EVENTS_WITHIN_MS;
  do await new Promise((resolve) => setTimeout(resolve, 100));
  while (missing().length > 0 && Date.now() < until);
  const report: VictimReport = { samples, missingSince: missing() };
  process.stdout.write(`${JSON.stringify(report)}\n`, () => process.exit(0));
}

await main(JSON.parse(process.argv[2] ?? "") as PartnerAccess); // Written by neighbors.ts.
