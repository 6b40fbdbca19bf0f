import { describe, expect, it } from "vitest";
import { hostOf, UnprovenHosts } from "../../../../src/webhooks/delivery/admission.ts";
import { NOW } from "../../../support/claims.ts";

const after = (seconds: number) => new Date(NOW.getTime() + seconds * 1_000);
const host = hostOf(new URL("https://partner.example/hooks"));
const otherPort = hostOf(new URL("https://partner.example:8443/"));

/** Requests that may begin at a time. */
function takeAll(hosts: UnprovenHosts, at: Date, to = host): number {
  let count = 0;
  for (; count < 1_000 && hosts.waitMs(to, at) === 0; count += 1) hosts.take(to, at);
  return count;
}

describe("a host that has never returned 2xx", () => {
  it("gets 30 requests at once, and then one each two seconds: at most 60 in any minute", () => {
    const hosts = new UnprovenHosts();
    expect(takeAll(hosts, NOW)).toBe(30);
    expect(hosts.waitMs(host, NOW)).toBe(2_000);
    expect([takeAll(hosts, after(1.999)), takeAll(hosts, after(2))]).toEqual([0, 1]);
    expect(takeAll(hosts, after(60))).toBe(29);
    expect(takeAll(hosts, after(3_600))).toBe(30);
  });

  it("shares its allowance with the other ports of its name, and with no other name", () => {
    const hosts = new UnprovenHosts();
    expect([takeAll(hosts, NOW), takeAll(hosts, NOW, otherPort)]).toEqual([30, 0]);
    expect(takeAll(hosts, NOW, hostOf(new URL("https://other.example/")))).toBe(30);
  });

  it("is not limited once it has returned 2xx, on that port", () => {
    const hosts = new UnprovenHosts();
    takeAll(hosts, NOW);
    hosts.prove(host);
    expect([takeAll(hosts, NOW), takeAll(hosts, NOW, otherPort)]).toEqual([1_000, 0]);
  });

  it("gets nothing more when the clock goes back", () => {
    const hosts = new UnprovenHosts();
    takeAll(hosts, after(100));
    expect(takeAll(hosts, NOW)).toBe(0);
  });
});

it("a host is its name with its port, also where the port is the usual one", () => {
  expect(host).toEqual({ name: "partner.example", origin: "partner.example:443" });
  expect(hostOf(new URL("http://127.0.0.1/"))).toEqual({ name: "127.0.0.1", origin: "127.0.0.1:80" });
  expect(hostOf(new URL("https://[2001:db8::1]:444/")).origin).toBe("[2001:db8::1]:444");
});
