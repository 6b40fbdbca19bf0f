import { mkdir, mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createBackOffice } from "../../src/back-office/app.ts";
import { API_ADDRESS, ERRORS_ADDRESS } from "../../src/http/static-sites.ts";
import { createMetrics } from "../../src/platform/metrics.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let folder: string;
let app: ReturnType<typeof createBackOffice>;

beforeAll(async () => {
  test = await startTestService();
  folder = await mkdtemp(join(tmpdir(), "partner-orders-site-"));
  const site = join(folder, "site");
  for (const path of ["partners", "examples", "errors/not-found"])
    await mkdir(join(site, path), { recursive: true });
  const files = {
    "secret.txt": "secret",
    "site/index.html": "<h1>Home</h1>",
    "site/404.html": "<h1>No such page</h1>",
    "site/errors/not-found/index.html": "<h1>Resource not found</h1>",
    "site/partners/orders.html": "<h1>Orders</h1>",
    "site/partners/orders.md": "# Orders",
    "site/app.AbCd1234.js": "start()",
    "site/.env": "KEY=1",
    "site/start.html": `<p>API=${API_ADDRESS}</p>`,
    "site/page.AbCd1234.js": `"${API_ADDRESS} ${ERRORS_ADDRESS}/not-found ${"long ".repeat(300)}"`,
    "site/examples/receiver.mjs": "receive()",
    "site/examples/verify.py": "verify()",
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  await writeFile(join(site, "start.html.gz"), gzipSync(files["site/start.html"]));
  await writeFile(join(site, "partners/orders.html.gz"), gzipSync(files["site/partners/orders.html"]));
  app = createBackOffice(test.context, async () => null as never, createMetrics(), undefined, { docs: site });
});
afterAll(async () => {
  await app.close();
  await test.close();
  await rm(folder, { recursive: true });
});

describe("GET /docs", () => {
  it("leads to the home page", async () => {
    const { statusCode, headers } = await app.inject("/docs");
    expect([statusCode, headers.location]).toEqual([308, "/docs/"]);
    expect((await app.inject("/docs/")).body).toBe("<h1>Home</h1>");
  });

  it.each([
    ["/docs", 308],
    ["/docs/", 200],
    ["/docs/partners/orders.md", 200],
    ["/docs/no-such-page.html", 404],
    ["/errors/not-found", 302],
    ["/errors/person-exists", 200],
    ["/errors/no-such-code", 404],
    ["/openapi.json", 200],
    ["/livez", 200],
    ["/readyz", 200],
    ["/metrics", 200],
    ["/api/orders", 404],
  ])("HEAD %s is %i, as GET is for a reader", async (url, status) => {
    const { statusCode, body } = await app.inject({ method: "HEAD", url });
    expect([statusCode, body]).toEqual([status, ""]);
  });

  it("serves a page with a policy that allows no script within it and no other host", async () => {
    const { headers, body } = await app.inject("/docs/partners/orders.html");
    expect(body).toBe("<h1>Orders</h1>");
    expect(headers["content-type"]).toBe("text/html; charset=utf-8");
    const policy = String(headers["content-security-policy"]);
    expect(policy).toContain("default-src 'none'; script-src 'self';");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(headers["x-content-type-options"]).toBe("nosniff");
    expect(headers["cache-control"]).toBe("no-cache");
  });

  it("serves the compressed copy to those who accept it", async () => {
    const encoding = { "accept-encoding": "gzip" };
    const { headers } = await app.inject({ url: "/docs/partners/orders.html", headers: encoding });
    expect(headers["content-encoding"]).toBe("gzip");
    expect(headers["content-type"]).toBe("text/html; charset=utf-8");
    const plain = await app.inject("/docs/partners/orders.html");
    expect(plain.headers["content-encoding"]).toBeUndefined();
    expect(plain.headers.vary).toBe("accept-encoding");
  });

  it("serves the Markdown of a page as text", async () => {
    const { headers, body } = await app.inject("/docs/partners/orders.md");
    expect([headers["content-type"], body]).toEqual(["text/markdown; charset=utf-8", "# Orders"]);
  });

  it("names the addresses of the deployment, in what readers and programs get", async () => {
    const own = { API: "http://localhost:8080", errors: "http://localhost:8081/errors" };
    expect((await app.inject("/docs/start.html")).body).toBe(`<p>API=${own.API}</p>`);
    for (const headers of [{}, { "accept-encoding": "gzip" }]) {
      const script = await app.inject({ url: "/docs/page.AbCd1234.js", headers });
      const isCompressed = script.headers["content-encoding"] === "gzip";
      expect(isCompressed).toBe("accept-encoding" in headers);
      const text = isCompressed ? gunzipSync(script.rawPayload).toString() : script.body;
      expect(text).toContain(`"${own.API} ${own.errors}/not-found long`);
      // Its name does not change with the addresses.
      expect(script.headers["cache-control"]).toBe("no-cache");
      expect(script.headers["content-type"]).toBe("text/javascript; charset=utf-8");
    }
  });

  it("sends nothing again of a page that a browser has, until it changes", async () => {
    const etagOf = async () => String((await app.inject("/docs/start.html")).headers.etag);
    const etag = await etagOf();
    const again = await app.inject({ url: "/docs/start.html", headers: { "if-none-match": etag } });
    expect([again.statusCode, again.body]).toEqual([304, ""]);
    const later = new Date(Date.now() + 60_000);
    await writeFile(join(folder, "site/start.html"), `<p>Changed: ${API_ADDRESS}</p>`);
    await utimes(join(folder, "site/start.html"), later, later);
    expect(await etagOf()).not.toBe(etag);
  });

  it.each(["/docs/examples/receiver.mjs", "/docs/examples/verify.py"])("shows %s as text", async (url) => {
    const { headers, statusCode } = await app.inject(url);
    expect([statusCode, headers["content-type"]]).toEqual([200, "text/plain; charset=utf-8"]);
  });

  it("lets browsers keep a file whose name has a hash of its content", async () => {
    const { headers } = await app.inject("/docs/app.AbCd1234.js");
    expect(headers["cache-control"]).toBe("public, max-age=31536000, immutable");
  });

  it("returns 304 for an unchanged file", async () => {
    const { headers } = await app.inject("/docs/partners/orders.html");
    const again = await app.inject({
      url: "/docs/partners/orders.html",
      headers: { "if-none-match": String(headers.etag) },
    });
    expect([again.statusCode, again.body]).toEqual([304, ""]);
  });

  it.each([
    "/docs/no-such-page.html",
    "/docs/.env",
    "/docs/%2eenv",
    "/docs/partners",
    "/docs/partners/orders.html/",
  ])("shows the site's own page for %s, which has no file", async (url) => {
    const { statusCode, body, headers } = await app.inject(url);
    expect([statusCode, body]).toEqual([404, "<h1>No such page</h1>"]);
    expect(headers["content-security-policy"]).toContain("default-src 'none'");
  });

  it.each([
    "/docs/../secret.txt",
    "/docs/%2e%2e/secret.txt",
    "/docs/..%2fsecret.txt",
    "/docs/partners/..%2f..%2fsecret.txt",
    "/docs/%5c..%5csecret.txt",
    "/docs/%00",
    "/docs//index.html",
  ])("serves nothing beside the folder: %s", async (url) => {
    const { statusCode, body } = await app.inject(url);
    expect([statusCode, body === "secret"]).toEqual([404, false]);
  });

  it("accepts no other method", async () => {
    for (const method of ["POST", "PUT", "DELETE", "OPTIONS"] as const) {
      const { statusCode, json } = await app.inject({ method, url: "/docs/index.html" });
      expect([statusCode, json().code]).toEqual([404, "not-found"]);
    }
  });

  it("has the pages of problems, to which their addresses lead", async () => {
    const { statusCode, headers } = await app.inject("/errors/not-found");
    expect([statusCode, headers.location]).toEqual([302, "/docs/errors/not-found/"]);
    expect((await app.inject("/errors/no-such-code")).statusCode).toBe(404);
  });

  it("is a route that does not exist where the site is not built", async () => {
    const { status, body } = await test.backOffice.get("/docs/");
    expect([status, body.code]).toEqual([404, "not-found"]);
  });
});
