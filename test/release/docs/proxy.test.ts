import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmod, readFile, writeFile } from "node:fs/promises";
import { request } from "node:https";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { PROBLEMS } from "../../../src/platform/wire/problems.ts";
import { makeCertificate } from "../../support/certificate.ts";
import { freePort } from "../../support/free-port.ts";
import { temporaryFolder } from "../../support/main-process.ts";

const NAME = "orders.example.com";

let file: string;
beforeAll(async () => {
  file = (await readFile("deploy/nginx/partner-orders.conf", "utf8")).replace(/#.*$/gm, "");
});

describe("the proxy", () => {
  it("exposes the partner API, the problem pages and the documentation, and leaves the path as it was sent", () => {
    const passed = [...file.matchAll(/location ([^{]+) \{[^{}]*?(?:\{[^}]*\}[^{}]*?)?proxy_pass ([^;]+);/g)];
    expect(passed.map(([, location, target]) => [location, target])).toEqual([
      ["/", "http://partner_orders_api"],
      ["~ ^/errors/[a-z-]+$", "http://127.0.0.1:8081"],
      ["/docs/", "http://127.0.0.1:8081"],
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
    ["a change of a page", "POST /errors/not-found", {}, 404, "not-found"],
    ["its own problems", "GET /nginx-problems/unavailable", {}, 404, "not-found"],
  ])("responds to %s with a problem document", async (_what, line, headers, status, code) => {
    const port = await startNginx();
    const [method = "", path = ""] = line.split(" ");
    const response = await sent(port, method, path, headers);
    expect(response).toMatchObject({
      status,
      contentType: "application/problem+json",
      cacheControl: "no-store",
      retryAfter: status === 503 ? "5" : undefined,
    });
    expect(JSON.parse(response.body)).toMatchObject({
      instance: path === LONG_PATH ? "" : path.split('"')[0], // What is certainly valid in JSON.
      code,
      status: PROBLEMS[code as keyof typeof PROBLEMS].status,
    });
  });
});

/** Starts nginx with the file, as a proxy of a service that does not run. Returns its port. */
async function startNginx(): Promise<number> {
  const folder = await temporaryFolder();
  await chmod(folder, 0o755); // Its workers have an account of their own.
  const at = (name: string): string => join(folder, name);
  const { key, cert } = makeCertificate({ name: NAME });
  await Promise.all([writeFile(at("key.pem"), key), writeFile(at("cert.pem"), cert)]);
  const port = await freePort();
  const config = file
    .replace(/(ssl_certificate) \S+;/, `$1 ${at("cert.pem")};`)
    .replace(/(ssl_certificate_key) \S+;/, `$1 ${at("key.pem")};`)
    .replace("listen 443 ", `listen 127.0.0.1:${port} `)
    .replace("listen 80;", `listen 127.0.0.1:${await freePort()};`)
    .replaceAll("127.0.0.1:8080", `127.0.0.1:${await freePort()}`)
    .replaceAll("127.0.0.1:8081", `127.0.0.1:${await freePort()}`);
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
  await Promise.race([listening(port), ended.then(() => Promise.reject(new Error("nginx has ended.")))]);
  return port;
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

async function sent(port: number, method: string, path: string, headers: Record<string, string>) {
  const outgoing = request({
    port,
    method,
    path,
    headers,
    servername: NAME,
    rejectUnauthorized: false,
    agent: false,
  });
  outgoing.on("error", () => {}); // nginx closes the connection of a body that it has not read.
  outgoing.flushHeaders();
  if (headers["Content-Length"] === undefined) outgoing.end();
  const [response] = await once(outgoing, "response");
  const body = await text(response);
  outgoing.destroy();
  return {
    status: response.statusCode,
    contentType: response.headers["content-type"],
    cacheControl: response.headers["cache-control"],
    retryAfter: response.headers["retry-after"],
    body,
  };
}
