import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { NameLookup } from "../../src/webhooks/delivery/public-lookup.ts";
import { createPartner, placeOrder } from "../support/builders.ts";
import { startDispatcher, startReceiverForTest } from "../support/dispatch.ts";
import { type DnsAnswer, startDnsServer } from "../support/dns-server.ts";
import { startServiceForTest } from "../support/test-service.ts";
import { createEndpoint } from "../support/webhooks.ts";

/** A DNS server that does not answer for names below `slow.test`, and a lookup that uses it. */
async function start(answers: Record<string, DnsAnswer> = {}) {
  const dns = await startDnsServer((name) =>
    name.endsWith(".slow.test") ? "drop" : (answers[name] ?? "no-such-name"),
  );
  const time = { ms: 0 };
  const names = new NameLookup({
    allowPrivateNetworks: true,
    dnsServers: [dns.address],
    hostsFile: "/nonexistent",
    now: () => time.ms,
  });
  onTestFinished(() => names.close());
  return { dns, time, names };
}

/** Many names that no server answers for. */
const slowNames = (count: number) => Array.from({ length: count }, (_, n) => `w${n}.slow.test`);

describe("names that do not resolve", () => {
  it("have eight concurrent lookups for one connection, and delay no other connection", async () => {
    const { dns, names } = await start({ "good.test": "192.0.2.1" });
    let endedCount = 0;
    const failing = slowNames(50).map((name) =>
      names.resolve(name, "attacker").catch(() => {
        endedCount += 1;
      }),
    );
    await dns.waitFor(16);
    expect(await names.resolve("good.test", "victim")).toEqual([{ address: "192.0.2.1", family: 4 }]);
    expect(endedCount).toBe(0);
    expect(new Set(dns.queried)).toEqual(new Set([...slowNames(8), "good.test"]));
    names.close();
    await Promise.race(failing);
  });

  it("are not looked up again for 30 seconds", async () => {
    const { dns, time, names } = await start({ "broken.test": "server-failure" });
    for (const name of ["missing.test", "broken.test"]) {
      await expect(names.resolve(name, "a")).rejects.toThrow();
      const count = dns.queried.length;
      time.ms += 29_999;
      await expect(names.resolve(name, "b")).rejects.toThrow();
      expect(dns.queried).toHaveLength(count);
      time.ms += 1;
      await expect(names.resolve(name, "a")).rejects.toThrow();
      expect(dns.queried.length).toBeGreaterThan(count);
    }
  });

  it("are not looked up if their turn comes too late for the request", async () => {
    const { dns, time, names } = await start();
    const failing = slowNames(9).map((name) => names.resolve(name, "attacker").catch(() => undefined));
    await dns.waitFor(16);
    time.ms += 10_001;
    names.close();
    await Promise.all(failing);
    expect(dns.queried).not.toContain("w8.slow.test");
  });

  it("release all of their turns", async () => {
    const { names } = await start({ "good.test": "192.0.2.1" });
    const missing = Array.from({ length: 40 }, (_, n) => names.resolve(`n${n}.test`, "a"));
    const outcomes = await Promise.allSettled(missing);
    for (const outcome of outcomes)
      expect(outcome).toMatchObject({ status: "rejected", reason: { message: "name has no address" } });
    expect(await names.resolve("good.test", "a")).toHaveLength(1);
  });
});

describe("a name that resolves", () => {
  it("is looked up once for all requests within five seconds", async () => {
    const { dns, time, names } = await start({ "good.test": "192.0.2.1" });
    await Promise.all(["a", "a", "b"].map((connection) => names.resolve("good.test", connection)));
    time.ms += 4_999;
    await names.resolve("good.test", "a");
    expect(dns.queried).toHaveLength(2);
    time.ms += 1;
    await names.resolve("good.test", "a");
    expect(dns.queried).toHaveLength(4);
  });
});

describe("names of this machine", () => {
  const hostsFile = join(tmpdir(), `hosts-${process.pid}`);
  writeFileSync(hostsFile, "# Ours\n127.0.0.9 receiver Receiver.Test # and more\nnonsense receiver\n");

  it("come from the hosts file if private networks are allowed; localhost also without one", async () => {
    const { dns } = await start();
    const names = new NameLookup({ allowPrivateNetworks: true, dnsServers: [dns.address], hostsFile });
    for (const name of ["receiver", "receiver.test"])
      expect(await names.resolve(name, "a")).toEqual([{ address: "127.0.0.9", family: 4 }]);
    for (const name of ["localhost", "a.localhost"])
      expect(await names.resolve(name, "a")).toContainEqual({ address: "127.0.0.1", family: 4 });
    expect(dns.queried).toEqual([]);
  });

  it("otherwise have no address, and are not looked up", async () => {
    const { dns } = await start({ intranet: "10.0.0.1", "db.internal": "10.0.0.2" });
    const names = new NameLookup({ allowPrivateNetworks: false, dnsServers: [dns.address], hostsFile });
    for (const name of ["localhost", "intranet", "receiver", "db.internal", "printer.local"])
      await expect(names.resolve(name, "a")).rejects.toThrow("name has no address");
    expect(dns.queried).toEqual([]);
    await expect(names.resolve("receiver.test", "a")).rejects.toThrow("name has no address");
    expect(dns.queried).toHaveLength(2);
  });
});

it("endpoints with names that do not resolve delay the deliveries of no other partner", async () => {
  const test = await startServiceForTest({ config: { webhookAllowPrivateNetworks: true } });
  const { dns, names } = await start({ "good.test": "127.0.0.1" });
  const dispatcher = startDispatcher(test, { lookup: names.resolve });
  const [attacker, victim] = [await createPartner(test), await createPartner(test)];
  for (const name of slowNames(20)) await createEndpoint(attacker, { url: `http://${name}/` });
  await placeOrder(attacker);
  const receiver = await startReceiverForTest();
  await createEndpoint(victim, { url: receiver.url.replace("127.0.0.1", "good.test") });
  await dispatcher.poll();
  await dns.waitFor(16);
  await placeOrder(victim);
  await dispatcher.poll();
  await receiver.waitFor(1);
  expect(new Set(dns.queried).size).toBe(9);
  names.close();
});
