import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPerson, linkToken, openBrowser, signIn } from "../../support/people.ts";
import { startServiceForTest, startTestService, type TestService } from "../../support/test-service.ts";

const PROXY = "10.1.2.3";
const STRANGER = "203.0.113.9";

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ config: { trustedProxies: ["127.0.0.1", "10.0.0.0/8"] } });
});
afterAll(() => service.close());

/** The address that a session shows, of a sign-in over this connection with this header. */
async function addressOf(test: TestService, connection: string, forwarded: string | null): Promise<string> {
  const person = await createPerson(test);
  const token = await linkToken(test, person, "sign-in");
  const browser = openBrowser(test, connection);
  const header = forwarded === null ? {} : { "x-forwarded-for": forwarded };
  expect((await browser.post("/auth/sign-in/link", { token }, header)).status).toBe(200);
  return (await browser.get("/api/me/sessions")).body.data[0].ipAddress;
}

describe("the address of a client", () => {
  it.each([
    ["the only entry of a proxy", PROXY, "198.51.100.7", "198.51.100.7"],
    [
      "the last entry, whatever the client has written before it",
      PROXY,
      "192.0.2.1, 198.51.100.7",
      "198.51.100.7",
    ],
    ["the last entry that is no proxy", PROXY, "192.0.2.1, 198.51.100.7, 10.9.9.9", "198.51.100.7"],
    ["the first entry if all are proxies", PROXY, "10.0.0.1, 10.0.0.2", "10.0.0.1"],
    ["an entry of a proxy that is IPv4 within IPv6", "::ffff:10.1.2.3", "198.51.100.7", "198.51.100.7"],
    ["that of the connection without the header", PROXY, null, PROXY],
    ["that of the connection if the entry is no address", PROXY, "198.51.100.7, unknown", PROXY],
    ["that of the connection if it is no proxy", STRANGER, "198.51.100.7", STRANGER],
    [
      "that of the connection if it only claims to come from a proxy",
      STRANGER,
      "198.51.100.7, 10.1.2.3",
      STRANGER,
    ],
  ])("is %s", async (_name, connection, forwarded, address) => {
    expect(await addressOf(service, connection, forwarded)).toBe(address);
  });

  it("is that of the connection if no proxy is trusted", async () => {
    const world = await startServiceForTest();
    expect(await addressOf(world, PROXY, "198.51.100.7")).toBe(PROXY);
    expect(await addressOf(world, "127.0.0.1", "198.51.100.7")).toBe("127.0.0.1");
  });

  it("is what attempts are counted by: two clients of one proxy have their own", async () => {
    const { email } = await createPerson(service);
    const statusOf = async (address: string) => {
      const header = { "x-forwarded-for": address };
      const wrong = { email, password: "a wrong password" };
      return (await openBrowser(service, PROXY).post("/auth/sign-in/password", wrong, header)).status;
    };
    for (let count = 0; count < 10; count += 1) expect(await statusOf("198.51.100.20")).toBe(401);
    expect(await statusOf("198.51.100.20")).toBe(429);
    expect(await statusOf("198.51.100.21")).toBe(401);
  });
});

describe("the origin of a request", () => {
  it("is compared with the host that the browser has sent it to, and not with what a proxy forwards", async () => {
    const browser = await signIn(service, await createPerson(service), openBrowser(service, PROXY));
    const headers = {
      origin: "https://evil.example",
      "x-forwarded-host": "evil.example",
      "x-forwarded-proto": "https",
    };
    expect(await browser.request("POST", "/auth/sign-out", undefined, headers)).toMatchObject({
      status: 403,
      body: { code: "forbidden" },
    });
    expect((await browser.get("/api/me")).status).toBe(200);
  });
});
