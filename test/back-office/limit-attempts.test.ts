import { Writable } from "node:stream";
import { expect, it, onTestFinished } from "vitest";
import { createBackOffice } from "../../src/back-office/app.ts";
import { FAILURES_MAX, limitAttempts, tokenAuthentication } from "../../src/back-office/authentication.ts";
import { createPartnerApi } from "../../src/partner-api/app.ts";
import { createLog } from "../../src/platform/log.ts";
import { createMetrics } from "../../src/platform/metrics.ts";
import { createKey, createPartner } from "../support/builders.ts";
import { startServiceForTest } from "../support/test-service.ts";

const PROXY = "203.0.113.7";
const OTHER = "198.51.100.9";
/** Short enough to be guessed. */
const SHORT_TOKEN = "a-short-operator-token";
const LONG_TOKEN = "an-operator-token-of-32-characters";

/** A back office that limits attempts, with what it logs. */
async function start(operatorToken = SHORT_TOKEN) {
  const test = await startServiceForTest();
  const lines: Record<string, unknown>[] = [];
  const destination = new Writable({
    write: (chunk, _encoding, done) => {
      lines.push(JSON.parse(String(chunk)));
      done();
    },
  });
  const context = { ...test.context, log: createLog("warn", destination) };
  const backOffice = createBackOffice(
    context,
    limitAttempts(tokenAuthentication(operatorToken, context), context, operatorToken),
    createMetrics(),
  );
  const partnerApi = createPartnerApi(context, createMetrics());
  onTestFinished(() => Promise.all([backOffice.close(), partnerApi.close()]).then(() => undefined));
  const send = async (token: string | null, remoteAddress = PROXY, more = {}) => {
    const headers = { ...(token !== null && { authorization: `Bearer ${token}` }), ...more };
    return backOffice.inject({ method: "GET", url: "/api/merchants", headers, remoteAddress });
  };
  const fail = async (count: number, address = PROXY) => {
    for (let sent = 0; sent < count; sent += 1)
      expect((await send(`guess-${sent}`, address)).statusCode).toBe(401);
  };
  return { test, lines, partnerApi, send, fail };
}

it("an address that guesses a short token is rejected for a minute, with the right one as well", async () => {
  const { test, send, fail } = await start();
  await fail(FAILURES_MAX);
  const wrong = await send("another-guess");
  const right = await send(SHORT_TOKEN);
  for (const answer of [wrong, right]) {
    expect(answer.statusCode).toBe(401);
    expect(answer.json()).toMatchObject({
      code: "unauthorized",
      detail: "Too many requests with a wrong token came from this address. Retry in 60 s.",
    });
    expect(Number(answer.headers["retry-after"])).toBe(60);
  }
  test.clock.advance({ seconds: 59 });
  expect((await send(SHORT_TOKEN)).statusCode).toBe(401);
  test.clock.advance({ seconds: 1 });
  expect((await send(SHORT_TOKEN)).statusCode).toBe(200);
});

it("wrong tokens never lock out a right one that cannot be guessed, behind the address of a shared proxy", async () => {
  const { test, send, fail } = await start(LONG_TOKEN);
  const { body } = await test.backOffice.post("/api/tokens", { name: "Shop", role: "support" });
  await fail(3 * FAILURES_MAX);
  expect((await send(LONG_TOKEN)).statusCode).toBe(200);
  expect((await send(body.token)).statusCode).toBe(200);
  const wrong = await send(`pot_support_${"a".repeat(43)}`);
  expect([wrong.statusCode, wrong.headers["retry-after"]]).toEqual([401, "60"]);
});

it("a named token is not locked out by guesses of a short operator token either", async () => {
  const { test, send, fail } = await start();
  const { body } = await test.backOffice.post("/api/tokens", { name: "Shop", role: "support" });
  await fail(FAILURES_MAX);
  expect((await send(SHORT_TOKEN)).statusCode).toBe(401);
  expect((await send(body.token)).statusCode).toBe(200);
});

it("a proxy that is not trusted is logged once", async () => {
  const { lines, send } = await start();
  await send(SHORT_TOKEN);
  expect(lines).toEqual([]);
  for (let sent = 0; sent < 3; sent += 1) await send(SHORT_TOKEN, PROXY, { "x-forwarded-for": OTHER });
  expect(lines).toMatchObject([
    { level: "warn", msg: expect.stringContaining("TRUSTED_PROXIES is empty"), address: PROXY },
  ]);
});

it("no other address notices, and neither does a caller who sends the right token", async () => {
  const { send, fail } = await start();
  await fail(FAILURES_MAX - 1);
  for (let sent = 0; sent < 3 * FAILURES_MAX; sent += 1)
    expect((await send(SHORT_TOKEN)).statusCode).toBe(200);
  await fail(1);
  expect((await send(SHORT_TOKEN)).statusCode).toBe(401);
  expect((await send(SHORT_TOKEN, OTHER)).statusCode).toBe(200);
});

it("requests without a token are no guesses", async () => {
  const { send } = await start();
  for (let sent = 0; sent < 2 * FAILURES_MAX; sent += 1) expect((await send(null)).statusCode).toBe(401);
  expect((await send(SHORT_TOKEN)).statusCode).toBe(200);
});

it("tokens that have ended are no guesses, and the log has their ids", async () => {
  const { test, lines, send, fail } = await start();
  const { body } = await test.backOffice.post("/api/tokens", { name: "Old", role: "support" });
  expect((await send(body.token)).statusCode).toBe(200);
  await test.backOffice.post(`/api/tokens/${body.id}/revoke`);
  for (let sent = 0; sent < 2 * FAILURES_MAX; sent += 1)
    expect((await send(body.token)).statusCode).toBe(401);
  expect((await send(SHORT_TOKEN)).statusCode).toBe(200);
  expect(lines).toMatchObject([{ msg: "authentication failed", tokenId: body.id, address: PROXY }]);
  expect(JSON.stringify(lines)).not.toContain(body.token);
  // Tokens that were never given to anyone are.
  await fail(FAILURES_MAX - 1);
  expect((await send(`pot_operator_${"a".repeat(43)}`)).statusCode).toBe(401);
  expect((await send(SHORT_TOKEN)).statusCode).toBe(401);
});

it("all addresses of a network of IPv6 count together, and IPv4 in IPv6 is the address itself", async () => {
  const { send, fail } = await start();
  for (let host = 1; host <= FAILURES_MAX; host += 1) await fail(1, `2001:db8:1:2::${host.toString(16)}`);
  expect((await send(SHORT_TOKEN, "2001:db8:1:2:ffff::1")).statusCode).toBe(401);
  expect((await send(SHORT_TOKEN, "2001:db8:1:3::1")).statusCode).toBe(200);
  await fail(FAILURES_MAX, `::ffff:${OTHER}`);
  expect((await send(SHORT_TOKEN, OTHER)).statusCode).toBe(401);
});

it("failures are logged, at most one line in ten seconds, with their number and never with the token", async () => {
  const { test, lines, send, fail } = await start();
  await fail(15);
  await send(null, OTHER);
  expect(lines).toMatchObject([
    {
      level: "warn",
      msg: "authentication failed",
      listener: "back-office",
      reqId: expect.any(String), // As in the request log.
      address: PROXY,
      count: 1,
    },
  ]);
  test.clock.advance({ seconds: 10 });
  await fail(1, OTHER);
  expect(lines[1]).toMatchObject({ msg: "authentication failed", address: OTHER, count: 16 });
  expect(JSON.stringify(lines)).not.toContain("guess");
});

it("the partner API logs its failures too, with the id of a key that was revoked", async () => {
  const { test, lines, partnerApi } = await start();
  const partner = await createPartner(test);
  const { id, key } = await createKey(test, partner.connectionId);
  await test.backOffice.post(`/api/keys/${id}/revoke`);
  for (let sent = 0; sent < 100; sent += 1)
    await partnerApi.inject({ method: "GET", url: "/v1/me", headers: { authorization: `Bearer ${key}` } });
  expect(lines).toMatchObject([
    { msg: "authentication failed", listener: "partner-api", keyId: id, count: 1, address: "127.0.0.1" },
  ]);
  expect(JSON.stringify(lines)).not.toContain(key);
});
