import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import type { FastifyInstance } from "fastify";
import { describe, expect, it, onTestFinished } from "vitest";
import { unauthorized } from "../../../src/http/credentials.ts";
import { createListener } from "../../../src/http/listener.ts";
import { addConsole } from "../../../src/http/static-sites.ts";
import { createLog } from "../../../src/platform/log.ts";
import { createMetrics } from "../../../src/platform/metrics.ts";
import { publishBuild } from "../../../web/build/publish-build.ts";
import { temporaryFolder } from "../../support/main-process.ts";

const SCRIPT = "export const answer = 42;\n".repeat(100);
const HTML = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

/** A listener with a console of one page and one script. */
async function listenerWith(files: "built" | "missing"): Promise<FastifyInstance> {
  const folder = await temporaryFolder();
  if (files === "built") {
    await mkdir(join(folder, "assets"));
    await writeFile(join(folder, "index.html"), '<meta name="style-nonce" content="%STYLE_NONCE%">');
    await writeFile(join(folder, "assets/main-hash.js"), SCRIPT);
    await writeFile(join(folder, "assets/main-hash.js.br"), brotliCompressSync(SCRIPT));
    await writeFile(join(folder, "assets/main-hash.js.gz"), gzipSync(SCRIPT));
    await writeFile(join(folder, "secret.txt"), "not served");
  }
  return listenerOf(...(files === "built" ? [folder] : []));
}

function listenerOf(folder?: string): FastifyInstance {
  const app = createListener({
    name: "back-office",
    routes: [],
    operationsFor: () => null,
    authenticate: async ({ headers }) => unauthorized(headers),
    errorsBaseUrl: "https://orders.example/errors",
    log: createLog("silent"),
    metrics: createMetrics().requests,
  });
  addConsole(app, folder);
  onTestFinished(() => app.close());
  return app;
}

describe("the page", () => {
  it("is on / for everyone, and on every address that a browser opens", async () => {
    const app = await listenerWith("built");
    for (const [url, headers] of [
      ["/", {}],
      ["/", HTML],
      ["/orders/ord_01m7y7np16fe68bxp4h91tdmdn?tab=money", HTML],
      ["/apiary", HTML],
    ] as const) {
      const { statusCode, headers: sent } = await app.inject({ url, headers });
      expect([statusCode, sent["content-type"]], url).toEqual([200, "text/html; charset=utf-8"]);
      expect(sent["cache-control"], "its nonce is of this response").toBe("no-store");
    }
  });

  it("is not on the addresses of programs, nor for a program on any other", async () => {
    const app = await listenerWith("built");
    for (const url of [
      "/api",
      "/api/nothing",
      "/auth/x",
      "/docs/x",
      "/metrics/x",
      "/openapi-x.json",
      "/assets/no.js",
    ])
      expect((await app.inject({ url, headers: HTML })).json(), url).toMatchObject({ code: "not-found" });
    for (const headers of [{}, { accept: "*/*" }, { accept: "application/json" }])
      expect((await app.inject({ url: "/orders", headers })).json()).toMatchObject({ code: "not-found" });
    for (const method of ["POST", "PUT", "DELETE"] as const)
      expect((await app.inject({ method, url: "/", headers: HTML })).statusCode, method).toBe(404);
  });

  it("responds to HEAD as to GET, without a body", async () => {
    const app = await listenerWith("built");
    for (const [url, accept, status] of [
      ["/", "*/*", 200],
      ["/orders", HTML.accept, 200],
      ["/assets/main-hash.js", "*/*", 200],
      ["/orders", "application/json", 404],
      ["/api/orders", HTML.accept, 404],
    ] as const) {
      const { statusCode, body } = await app.inject({ method: "HEAD", url, headers: { accept } });
      expect([statusCode, body], url).toEqual([status, ""]);
    }
  });

  it("has a policy without inline scripts, whose nonce is the page's and new in each response", async () => {
    const app = await listenerWith("built");
    const nonces = await Promise.all(
      [1, 2].map(async () => {
        const { headers, body } = await app.inject({ url: "/" });
        const policy = String(headers["content-security-policy"]);
        const [, nonce = ""] = /style-src 'self' 'nonce-([\w+/=]{24})';/.exec(policy) ?? [];
        expect(body).toBe(`<meta name="style-nonce" content="${nonce}">`);
        expect(policy).toContain("default-src 'none'; script-src 'self';");
        expect(policy).toContain("frame-ancestors 'none'");
        expect(policy).not.toContain("unsafe");
        expect(headers).toMatchObject({
          "x-content-type-options": "nosniff",
          "referrer-policy": "same-origin",
        });
        return nonce;
      }),
    );
    expect(new Set(nonces).size).toBe(2);
  });

  it("says what to do where the console is not built", async () => {
    const app = await listenerWith("missing");
    const { statusCode, body } = await app.inject({ url: "/" });
    expect([statusCode, body]).toEqual([503, expect.stringContaining("npm ci")]);
  });
});

describe("the files", () => {
  it("are sent compressed as the build made them, and may be kept for a year", async () => {
    const app = await listenerWith("built");
    for (const [encodings, encoding] of [
      ["gzip, deflate, br", "br"],
      ["gzip", "gzip"],
      ["identity", undefined],
    ] as const) {
      const { statusCode, headers } = await app.inject({
        url: "/assets/main-hash.js",
        headers: { "accept-encoding": encodings },
      });
      expect([statusCode, headers["content-encoding"]]).toEqual([200, encoding]);
      expect(headers).toMatchObject({
        "cache-control": "public, max-age=31536000, immutable",
        "content-type": "application/javascript; charset=utf-8",
        "x-content-type-options": "nosniff",
      });
    }
  });

  it("are those of the folder of assets alone", async () => {
    const app = await listenerWith("built");
    for (const url of [
      "/assets/../secret.txt",
      "/assets/..%2fsecret.txt",
      "/assets/%2e%2e/secret.txt",
      "/assets/..%5csecret.txt",
      "/assets//secret.txt",
      "/assets/",
      "/assets",
    ])
      expect((await app.inject({ url })).statusCode, url).toBe(404);
  });
});

describe("a new build under a running service", () => {
  /** Builds a page with one script. */
  async function build(number: number, folder: string): Promise<void> {
    const fresh = await temporaryFolder();
    await mkdir(join(fresh, "assets"));
    await writeFile(join(fresh, "index.html"), `build ${number}`);
    await writeFile(join(fresh, `assets/main-${number}.js`), SCRIPT);
    await publishBuild(fresh, folder);
  }

  it("is served whole at once, and pages that are open still load the files of the build before", async () => {
    const folder = await temporaryFolder();
    await build(1, folder);
    const app = listenerOf(folder);
    const served = async () => {
      const files = [1, 2, 3].map((number) => app.inject({ url: `/assets/main-${number}.js` }));
      const { body } = await app.inject({ url: "/" });
      return [body, ...(await Promise.all(files)).map(({ statusCode }) => statusCode)];
    };
    expect(await served()).toEqual(["build 1", 200, 404, 404]);
    await build(2, folder);
    expect(await served()).toEqual(["build 2", 200, 200, 404]);
    await build(3, folder);
    expect(await served()).toEqual(["build 3", 404, 200, 200]);
  });

  it("stays as it is when the same sources are built again", async () => {
    const folder = await temporaryFolder();
    await build(1, folder);
    await build(1, folder);
    const app = listenerOf(folder);
    expect((await app.inject({ url: "/assets/main-1.js" })).statusCode).toBe(200);
  });
});
