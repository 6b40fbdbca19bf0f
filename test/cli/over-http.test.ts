import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { FastifyInstance } from "fastify";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createBackOffice } from "../../src/back-office/app.ts";
import { operatorAuthentication } from "../../src/back-office/authentication.ts";
import { openOverHttp } from "../../src/cli/over-http.ts";
import { createPartnerApi } from "../../src/partner-api/app.ts";
import { createMetrics } from "../../src/platform/metrics.ts";
import { placeOrder } from "../support/builders.ts";
import { makeCertificate } from "../support/certificate.ts";
import { type CliTest, runCli, startCli, startCliTest } from "../support/cli.ts";
import { freePort } from "../support/free-port.ts";
import { temporaryFolder } from "../support/main-process.ts";
import { startReceiver } from "../support/receivers.ts";
import { listen } from "../support/sockets.ts";

const TOKEN = "token-of-an-operator";
let at: CliTest;
let backOffice: FastifyInstance;
let partnerApi: FastifyInstance;
let [url, partnerUrl] = ["", ""];
beforeAll(async () => {
  at = await startCliTest();
  backOffice = createBackOffice(at.test.context, operatorAuthentication(TOKEN), createMetrics());
  partnerApi = createPartnerApi(at.test.context, createMetrics());
  [url, partnerUrl] = await Promise.all([listen(backOffice), listen(partnerApi)]);
});
afterAll(async () => {
  await Promise.all([backOffice.close(), partnerApi.close()]);
  await at.test.close();
});

/** What the program knows: an address and a token, and neither the database nor a secret of the service. */
const knowing = (variables: Record<string, string>) => ({
  PARTNER_ORDERS_URL: url,
  PARTNER_ORDERS_TOKEN: TOKEN,
  ...variables,
});

const run = (args: string, variables: Record<string, string> = {}) =>
  runCli(knowing(variables), args.split(" "));

/** The program as a process, where the process itself matters: it has its own streams, and Node reads variables too. */
const runProcess = (args: string, variables: Record<string, string> = {}, input = "") => {
  const { child, ended } = startCli(knowing(variables), args.split(" "));
  child.stdin.end(input);
  return ended();
};

describe("the command line over HTTP", () => {
  it("prints what it prints beside the database", async () => {
    const order = await placeOrder(at.partner);
    for (const args of [
      `order show ${order.id} --json`,
      `order export --connection ${at.partner.connectionId}`,
      "audit export --from 2026-01-01",
    ]) {
      const beside = await at.cli(args);
      const over = await runProcess(args);
      expect(over.output.length).toBeGreaterThan(100);
      expect({ ...over, output: withoutLastReads(over.output) }).toMatchObject({
        code: 0,
        errors: "",
        output: withoutLastReads(beside.output),
      });
    }
  });

  it("takes the address from --url before PARTNER_ORDERS_URL, and the token from OPERATOR_TOKEN as well", async () => {
    const variables = {
      PARTNER_ORDERS_URL: "http://127.0.0.1:9",
      PARTNER_ORDERS_TOKEN: "",
      OPERATOR_TOKEN: TOKEN,
    };
    const [last, first] = await Promise.all([
      run(`merchant list --url ${url}/`, variables),
      run(`--url ${url} merchant list`, variables),
    ]);
    for (const listed of [first, last])
      expect(listed).toMatchObject({ code: 0, output: expect.stringContaining(at.partner.merchantId) });
  });

  it("sends an import from standard input, and reports its invalid rows", async () => {
    const command = `product import - --merchant ${at.partner.merchantId}`;
    const rows = Array.from({ length: 2_500 }, (_, n) => `P${n},piped,1.00\n`).join("");
    const stored = await runProcess(command, {}, `sku,name,price\n${rows}`);
    const rejected = await runCli(knowing({}), command.split(" "), "sku,name,price\nE,,x\n");
    expect(stored).toMatchObject({ code: 0, errors: "", output: expect.stringMatching(/^created +2500$/m) });
    expect(rejected).toMatchObject({ code: 1, output: "" });
    expect(rejected.errors).toMatch(/line 2, name: is required/);
  });

  it("writes a workbook as it is, and imports it again", async () => {
    const { merchantId } = at.partner;
    const file = join(await temporaryFolder(), "products.xlsx");
    await writeFile(file, (await run(`product export --merchant ${merchantId} --format xlsx`)).bytes);
    const imported = await run(`product import ${file} --merchant ${merchantId} --dry-run --json`);
    expect(imported.json()).toMatchObject({ created: 0, changed: 0, recognised: { format: "xlsx" } });
  });

  it("is recorded with the name of the token, not with that of the user", async () => {
    await run(`connection change ${at.partner.connectionId} --name Renamed`);
    const { body } = await at.test.backOffice.get("/api/audit-entries?action=updateConnection&limit=1");
    expect(body.data[0].actor).toMatchObject({ kind: "operator", name: "operator" });
  });

  it("reports the service's problems as they are", async () => {
    const problem = await run("merchant show x --json");
    expect(problem).toMatchObject({ code: 1, output: "" });
    expect(JSON.parse(problem.errors)).toMatchObject({ code: "not-found", instance: "/api/merchants/x" });
  });

  it.each([
    ["merchant list", { PARTNER_ORDERS_TOKEN: "" }, /^A token is missing: set PARTNER_ORDERS_TOKEN/],
    ["merchant list", { PARTNER_ORDERS_TOKEN: "with a space" }, /^The token .* has spaces/],
    ["merchant list", { PARTNER_ORDERS_URL: "localhost:8081" }, /^PARTNER_ORDERS_URL must be the address/],
    ["merchant list --url http://me:secret@localhost", {}, /^--url must be the address/],
    ["merchant list --token x", {}, /unknown option '--token'/],
    ["doctor", {}, /^doctor works beside the database only/],
    ["migrate", {}, /^migrate works beside the database only/],
  ])("%s with %o ends with 2, and shows no secret", async (args, variables, errors) => {
    const result = await run(args, variables as Record<string, string>);
    expect(result).toMatchObject({ code: 2, output: "" });
    expect(result.errors).toMatch(errors);
    expect(result.errors).not.toMatch(/secret|with a space|token-of/);
  });
});

describe("what the command line reports in one sentence when the service cannot be used", () => {
  it("a refused connection, with exit code 3", async () => {
    const port = await freePort();
    const { code, errors } = await run(`merchant list --url http://127.0.0.1:${port}`);
    expect([code, errors]).toEqual([
      3,
      `http://127.0.0.1:${port} cannot be used: the connection was refused. Check the address, and that the service runs (ECONNREFUSED).\n`,
    ]);
  });

  it("a token that is not valid, with exit code 1", async () => {
    const { code, output, errors } = await run("merchant list", { PARTNER_ORDERS_TOKEN: "other" });
    expect([code, output]).toEqual([1, ""]);
    expect(errors).toMatch(/does not accept the token in PARTNER_ORDERS_TOKEN/);
  });

  it("the partner API, and a path that the address must not have, with exit code 3", async () => {
    const addresses = [partnerUrl, `${url}/api`];
    const results = await Promise.all(
      addresses.flatMap((address) => [
        run(`merchant list --url ${address}`),
        run(`order export --url ${address}`),
      ]),
    );
    for (const { code, output, errors } of results) {
      expect([code, output]).toEqual([3, ""]);
      expect(errors).toMatch(
        /is not the address of a back office of this version, and may be the partner API/,
      );
    }
  });

  it("another server: a page, a redirect, and a connection that is closed, with exit code 3", async () => {
    const other = await startReceiver(({ path }, response) => {
      if (path.startsWith("/page")) response.setHeader("content-type", "text/html").end("<p>Welcome");
      else if (path.startsWith("/moved"))
        response.writeHead(302, { location: "https://elsewhere.example/" }).end();
      else response.destroy();
    });
    onTestFinished(other.close);
    const { origin } = new URL(other.url);
    const [page, moved, closed, pageAsFile, movedAsFile] = await Promise.all([
      run(`merchant list --url ${origin}/page`),
      run(`merchant list --url ${origin}/moved`),
      run(`key revoke key_1 --url ${origin}/closed`),
      run(`order export --url ${origin}/page`),
      run(`order export --url ${origin}/moved`),
    ]);
    expect(pageAsFile.errors).toBe(page.errors);
    expect(movedAsFile.errors).toBe(moved.errors);
    expect(page.errors).toBe(
      `${origin}/page is not the back office of Partner Orders: it returned 200 with text/html.\n`,
    );
    expect(moved.errors).toMatch(
      /redirects to https:\/\/elsewhere\.example\/: use the address of the back office/,
    );
    expect(closed.errors).toMatch(/closed without a complete response.*check before you repeat it/);
    for (const { code, output } of [page, moved, closed, pageAsFile, movedAsFile])
      expect([code, output]).toEqual([3, ""]);
    expect(other.requests).toHaveLength(5); // Neither a redirect is followed nor a request repeated.
  });

  it("TLS: a certificate that is not trusted, unless its authority is, and a server without TLS", async () => {
    const certificate = makeCertificate();
    const secure = await startReceiver((_request, response) => response.end(), certificate);
    onTestFinished(secure.close);
    const { origin } = new URL(secure.url);
    const file = join(await temporaryFolder(), "authority.pem");
    await writeFile(file, certificate.cert);
    const [untrusted, trusted, plain] = await Promise.all([
      run(`merchant list --url ${origin}`),
      runProcess(`merchant list --url ${origin}`, { NODE_EXTRA_CA_CERTS: file }),
      run(`merchant list --url ${url.replace("http:", "https:")}`),
    ]);
    expect(untrusted.errors).toMatch(/its TLS certificate is not trusted\. Set NODE_EXTRA_CA_CERTS/);
    expect(trusted.errors).toMatch(/is not the back office of Partner Orders/);
    expect(plain.errors).toMatch(/does not use TLS on this port/);
    for (const { code, output } of [untrusted, trusted, plain]) expect([code, output]).toEqual([3, ""]);
    expect(secure.requests).toHaveLength(1); // The token was sent to the trusted server only.
  });

  it("no response in time, and a response that does not end", async () => {
    const silent = await startReceiver(({ path }, response) => {
      if (path.startsWith("/api/silent")) return;
      response.writeHead(200, { "content-type": "text/csv", "x-request-id": "1" }).write("a,b\r\n");
    });
    onTestFinished(silent.close);
    const limits = { responseMs: 50, uploadMs: 50, partMs: 50 };
    const service = openOverHttp({ url: new URL(new URL(silent.url).origin), token: TOKEN }, limits);
    const request = { method: "GET", query: {}, body: null } as const;
    const late = /there was no response in time \(ETIMEDOUT\)/;
    await expect(service.send({ ...request, path: "/api/silent" })).rejects.toThrow(late);
    const ignore = async () => undefined;
    await expect(service.download({ ...request, path: "/api/file" }, ignore)).rejects.toThrow(late);
  });
});

/** Both ways of reading leave audit entries, which name their reader: leaves them out. */
const withoutLastReads = (output: string): string =>
  output
    .split("\n")
    .filter((line) => !/"action":"(getOrder|exportOrders|listOrders)"/.test(line))
    .join("\n");
