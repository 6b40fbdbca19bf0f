import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { request } from "node:https";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { connect as connectTls } from "node:tls";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { PROBLEMS } from "../../../src/platform/wire/problems.ts";
import { makeCertificate } from "../../support/certificate.ts";
import { freePort } from "../../support/free-port.ts";
import { temporaryFolder } from "../../support/main-process.ts";
import { makePartner, startService, TOKEN } from "../../support/running-service.ts";

const NAME = "orders.example.com";
const CONSOLE_NAME = "back-office.example.com";
const HSTS = "max-age=31536000";

const withoutComments = async (path: string) => (await readFile(path, "utf8")).replace(/#.*$/gm, "");
let file: string;
let consoleFile: string;
beforeAll(async () => {
  file = await withoutComments("deploy/nginx/partner-orders.conf");
  consoleFile = await withoutComments("deploy/nginx/back-office.conf");
});

describe("the proxy", () => {
  it("exposes the listener of partners alone, and leaves the path as it was sent", () => {
    const passed = [...file.matchAll(/location ([^{]+) \{[^{}]*?(?:\{[^}]*\}[^{}]*?)*proxy_pass ([^;]+);/g)];
    expect(passed.map(([, location, target]) => [location, target])).toEqual([
      ["/", "http://partner_orders_api"],
    ]);
    expect(file).toContain("merge_slashes off;");
  });

  it("returns problems of the service for what it rejects itself", () => {
    const returned = [...file.matchAll(/return (\d+) '([^']+)';/g)].map(([, status, body = ""]) => ({
      status: Number(status),
      problem: JSON.parse(body),
    }));
    expect(returned.map(({ problem }) => problem.code)).toEqual([
      "malformed-request",
      "not-found",
      "payload-too-large",
      "unavailable",
      "forbidden",
    ]);
    for (const { status, problem } of returned) {
      const { title, status: documented } = PROBLEMS[problem.code as keyof typeof PROBLEMS];
      const type = `https://${NAME}/errors/${problem.code}`;
      expect(problem).toMatchObject({ type, title, status: documented });
      expect(status).toBe(documented);
    }
  });
});

const isInstalled = spawnSync("nginx", ["-v"]).error === undefined;
describe.skipIf(!isInstalled)("nginx (skipped where it is not installed), while the service is down", () => {
  const LONG = "a".repeat(40_000);
  const LONG_PATH = `/v1/orders/${LONG}`;

  it.each([
    ["any request", "GET /v1/me", {}, 503, "unavailable"],
    ["a page", "GET /docs/", {}, 503, "unavailable"],
    [
      "a body of more than a mebibyte",
      "POST /v1/orders",
      { "Content-Length": "2000000" },
      413,
      "payload-too-large",
    ],
    ["a path with a quote", 'GET /v1/orders/a"b', {}, 503, "unavailable"],
    ["a long path", `GET ${LONG_PATH}`, {}, 400, "malformed-request"],
    ["a long header field", "GET /v1/me", { "X-Long": LONG }, 400, "malformed-request"],
    ["a method that it knows not", "TRACE /v1/me", {}, 404, "not-found"],
    ["its own problems", "GET /nginx-problems/unavailable", {}, 404, "not-found"],
  ])("responds to %s with a problem document", async (_what, line, headers, status, code) => {
    const { https } = await startNginx();
    const [method = "", path = ""] = line.split(" ");
    const response = await sent(https, method, path, headers);
    expect(response).toMatchObject({
      status,
      contentType: "application/problem+json",
      cacheControl: "no-store",
      retryAfter: status === 503 ? "5" : undefined,
      transportSecurity: HSTS,
    });
    expect(JSON.parse(response.body)).toMatchObject({
      instance: path === LONG_PATH ? "" : path.split('"')[0], // What is certainly valid in JSON.
      code,
      status: PROBLEMS[code as keyof typeof PROBLEMS].status,
    });
  });
});

/** What a browser or a normal client asks for. */
const PLAIN: readonly string[] = [
  "/v1/me",
  "/v1/orders?limit=1",
  "/v1/orders/web%2F1001",
  "/docs/",
  "/docs/partners/quickstart.html",
  "/docs/assets/chunks/@localSearchIndexroot.siE9N70B.js?v=1",
  "/docs/openapi/partner.json",
  "/errors/not-found",
];

/** Paths that two programs may read in two ways. For one of them, it is documentation. */
const ODD: readonly string[] = [
  "/api/orders/..%2f..%2fdocs%2fx",
  "/api/orders/../../docs/x",
  "/api/orders/%2e%2e/%2e%2e/docs/x",
  "/api/orders/.%2e/%2e./docs/x",
  "/x/../docs/x",
  "/x/%2e%2e/docs/x",
  "/x/..%2fdocs/x",
  "/x%2f..%2fdocs%2fx",
  "/x/..;/docs/x",
  "/docs/../api/me",
  "/docs/..%2fapi/me",
  "/docs/%2e%2e/api/me",
  "/docs/%2e%2e%2fapi%2fme",
  "/docs/%252e%252e/api/me",
  "/docs/..%252fapi/me",
  "/docs/..%5capi/me",
  "/docs/..\\api\\me",
  "/docs/..;/api/me",
  "/docs/;/../api/me",
  "/docs//../api/me",
  "/docs/./../api/me",
  "/docs/x/../../api/me",
  "/docs/%00/../api/me",
  "/docs/.../api/me/..",
  "/docs/.",
  "/docs/..",
  "/docs/../metrics",
  "/docs//x",
  "//docs/x",
  "/./docs/x",
  "/%64ocs/x",
  "/docs%2fx",
  "/DOCS/../docs/x",
  "/Docs/x",
  "/errors/../api/me",
  "/errors/x/../not-found",
  "/errors/%6eot-found",
  "/x/../errors/not-found",
  "//errors/not-found",
  "/errors/not-found/",
  "/errors/not-found.",
  "/errors/not-found;x",
  "/errors/not-found%3fx",
  "/nginx-problems/../docs/x",
  `https://${NAME}/docs/../api/me`,
  `https://${NAME}/api/orders/..%2f..%2fdocs%2fx`,
  "https://127.0.0.1/x/../docs/x",
  "/api/me",
  "/openapi-back-office.json",
  "/metrics",
];

describe.skipIf(!isInstalled)("nginx (skipped where it is not installed), in front of listeners", () => {
  it("passes every path on to the partners' listener as it was sent, and none to the back office", async () => {
    const [partners, backOffice] = [await startRecorder(), await startRecorder()];
    const { https } = await startNginx({ partners: partners.port, backOffice: backOffice.port });
    for (const path of PLAIN)
      expect([path, (await sent(https, "GET", path, {})).status]).toEqual([path, 200]);
    expect(partners.seen).toEqual(PLAIN);
    const answers = new Map<string, number | undefined>();
    for (const path of ODD) answers.set(path, (await sent(https, "GET", path, {})).status);
    expect(backOffice.seen).toEqual([]);
    expect([...answers]).toEqual(ODD.map((path) => [path, expect.toBeOneOf([200, 400, 404])]));
  });

  it.each([
    ["a coding that it does not know", "GET /v1/me HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: odd\r\n\r\n"],
    ["a version that it does not know", "GET /v1/me HTTP/3.1\r\nHost: x\r\n\r\n"],
    ["what is no HTTP", "GET /v1/me HTTX\r\n\r\n"],
    ["two lengths", "POST /v1/me HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"],
    ["no host", "GET /v1/me HTTP/1.1\r\n\r\n"],
    ["a path with an escape that is none", "GET /v1/%zz HTTP/1.1\r\nHost: x\r\n\r\n"],
  ])("responds to %s with a problem document", async (_what, raw) => {
    const partners = await startRecorder();
    const { https } = await startNginx({ partners: partners.port });
    const response = await rawlySent(https, raw);
    expect(partners.seen).toEqual([]);
    expect(response).toMatch(/^HTTP\/1\.1 400 /);
    expect(response).toMatch(/content-type: application\/problem\+json\r\n/i);
    expect(JSON.parse(response.slice(response.indexOf("{")))).toMatchObject({
      code: "malformed-request",
      status: 400,
    });
  });

  it("redirects people on port 80 to its own name, and refuses programs there", async () => {
    const { http } = await startNginx();
    const get = async (path: string, headers: Record<string, string> = {}) => {
      const response = await fetch(`http://127.0.0.1:${http}${path}`, {
        redirect: "manual",
        headers: { host: "evil.example", ...headers },
      });
      return {
        status: response.status,
        location: response.headers.get("location"),
        text: await response.text(),
      };
    };
    expect(await get("/docs/x?y=1")).toMatchObject({
      status: 308,
      location: `https://${NAME}/docs/x?y=1`,
    });
    for (const refused of [
      await get("/v1/me"),
      await get("/v1"),
      await get("/%76%31/me"),
      await get("/docs/", { authorization: "Bearer pok_live_x" }),
      await get("//v1/me", { authorization: "Bearer pok_live_x" }),
    ]) {
      expect(refused).toMatchObject({ status: 403, location: null });
      expect(JSON.parse(refused.text)).toMatchObject({ code: "forbidden", status: 403 });
    }
  });

  it("serves the service's documentation, problem pages, partner API and console", async () => {
    const { api, backOffice } = await startService();
    const ports = { partners: Number(new URL(api).port), backOffice: Number(new URL(backOffice).port) };
    const { https } = await startNginx(ports);
    const { key, anOrder } = await makePartner(backOffice);
    const bearer = { authorization: `Bearer ${key}` };
    expect(await sent(https, "GET", "/v1/me", bearer)).toMatchObject({
      status: 200,
      transportSecurity: HSTS,
    });
    expect(await sent(https, "GET", "/errors/not-found", {})).toMatchObject({
      // The way to a page of the documentation for partners, where that is built.
      status: existsSync("dist/docs-public/index.html") ? 302 : 404,
    });
    const order = JSON.stringify(anOrder("web-1"));
    const headers = {
      ...bearer,
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(order)),
    };
    expect((await sent(https, "POST", "/v1/orders", headers, order)).status).toBe(201);

    const operator = { authorization: `Bearer ${TOKEN}`, host: CONSOLE_NAME };
    expect((await sent(https, "GET", "/api/me", operator, "", CONSOLE_NAME)).status).toBe(200);
    expect((await sent(https, "GET", "/metrics", operator, "", CONSOLE_NAME)).status).toBe(404);
    const [merchant] = JSON.parse(
      (await sent(https, "GET", "/api/merchants", operator, "", CONSOLE_NAME)).body,
    ).data;
    const rows = Array.from({ length: 100_000 }, (_, index) => `SKU-${index},A product with a name,1.00`);
    const catalog = `sku,name,price\n${rows.join("\n")}\n`; // More than a mebibyte.
    const uploaded = await sent(
      https,
      "POST",
      `/api/merchants/${merchant.id}/products/import?match=none&dryRun=true`,
      { ...operator, "content-type": "text/csv", "content-length": String(catalog.length) },
      catalog,
      CONSOLE_NAME,
    );
    expect([uploaded.status, uploaded.body.slice(0, 200)]).toEqual([200, expect.any(String)]);
    expect(await firstOfUpdates(https, operator)).toMatch(/\S/);
  }, 120_000);
});

/** Where nginx listens. */
type Ports = { readonly https: number; readonly http: number };

/** Starts nginx with both files, as a proxy of these listeners; a port that is left out belongs to a service that does not run. */
async function startNginx(targets: { partners?: number; backOffice?: number } = {}): Promise<Ports> {
  const folder = await temporaryFolder();
  await chmod(folder, 0o755); // Its workers have an account of their own.
  const at = (name: string): string => join(folder, name);
  const { key, cert } = makeCertificate({ name: NAME });
  await Promise.all([writeFile(at("key.pem"), key), writeFile(at("cert.pem"), cert)]);
  const [https, http] = [await freePort(), await freePort()];
  const { partners = await freePort(), backOffice = await freePort() } = targets;
  const config = `${file}${consoleFile}`
    .replace(/(ssl_certificate) \S+;/g, `$1 ${at("cert.pem")};`)
    .replace(/(ssl_certificate_key) \S+;/g, `$1 ${at("key.pem")};`)
    .replaceAll("listen 443 ", `listen 127.0.0.1:${https} `)
    .replaceAll("listen 80;", `listen 127.0.0.1:${http};`)
    .replaceAll("127.0.0.1:8080", `127.0.0.1:${partners}`)
    .replaceAll("127.0.0.1:8081", `127.0.0.1:${backOffice}`);
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `${name}_temp_path ${at(name)};`)
    .join(" ");
  await writeFile(
    at("nginx.conf"),
    `daemon off; pid ${at("nginx.pid")}; error_log ${at("error.log")}; events {}
     http { access_log off; ${temporary} ${config} }`,
  );
  const nginx = spawn("nginx", ["-p", folder, "-e", at("error.log"), "-c", at("nginx.conf")], {
    stdio: "inherit",
  });
  const ended = once(nginx, "exit");
  onTestFinished(async () => {
    nginx.kill("SIGTERM");
    await ended;
  });
  await Promise.race([listening(https), ended.then(() => Promise.reject(new Error("nginx has ended.")))]);
  return { https, http };
}

async function listening(port: number): Promise<void> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
  } catch {
    await new Promise(setImmediate);
    await listening(port);
  } finally {
    socket.destroy();
  }
}

/** A listener that responds to everything, and notes the paths. */
async function startRecorder(): Promise<{ port: number; seen: string[] }> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(request.url ?? "");
    response.end("ok");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close().closeAllConnections());
  return { port: (server.address() as AddressInfo).port, seen };
}

async function sent(
  port: number,
  method: string,
  path: string,
  headers: Record<string, string>,
  body = "",
  servername = NAME,
) {
  const outgoing = request({
    port,
    method,
    path,
    headers,
    servername,
    rejectUnauthorized: false,
    agent: false,
  });
  outgoing.on("error", () => {}); // nginx closes the connection of a body that it has not read.
  outgoing.flushHeaders();
  if (body !== "" || headers["Content-Length"] === undefined) outgoing.end(body);
  const [response] = await once(outgoing, "response");
  const received = await text(response);
  outgoing.destroy();
  return {
    status: response.statusCode,
    contentType: response.headers["content-type"],
    cacheControl: response.headers["cache-control"],
    retryAfter: response.headers["retry-after"],
    transportSecurity: response.headers["strict-transport-security"],
    body: received,
  };
}

/** What nginx responds to these bytes until it closes the connection, or the response is complete. */
async function rawlySent(port: number, bytes: string): Promise<string> {
  const socket = connectTls({ port, host: "127.0.0.1", servername: NAME, rejectUnauthorized: false });
  socket.setEncoding("latin1").write(bytes, "latin1");
  let received = "";
  for await (const part of socket) {
    received += part;
    if (received.endsWith("}")) break;
  }
  socket.destroy();
  return received;
}

/** The first bytes of the stream of updates, which never ends. */
async function firstOfUpdates(port: number, headers: Record<string, string>): Promise<string> {
  const outgoing = request({
    port,
    path: "/api/updates",
    headers,
    servername: CONSOLE_NAME,
    rejectUnauthorized: false,
    agent: false,
  }).end();
  const [response] = await once(outgoing, "response");
  const [first] = await once(response, "data");
  outgoing.on("error", () => {});
  outgoing.destroy();
  return String(first);
}
