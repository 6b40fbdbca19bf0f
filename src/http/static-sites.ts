import { hash, randomBytes } from "node:crypto";
import { createReadStream, existsSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import fastifyStatic from "@fastify/static";
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Config } from "../platform/config.ts";
import { PROBLEMS, pathOf } from "../platform/wire/problems.ts";
import { acceptsGzip } from "./compression.ts";

/** A folder of files, and the path below which the listener serves it. The path begins and ends with a slash. */
export type StaticSite = {
  readonly folder: string;
  readonly path: string;
  /** The addresses of this deployment, by those that stand for them in the files. */
  readonly addresses: Readonly<Record<string, string>>;
};

/**
 * What pages write where a reader needs the address of the partner API, or of the pages about problems
 * (docs/design/console.md, "Documentation site").
 */
export const API_ADDRESS = "https://api.deployment.example";
export const ERRORS_ADDRESS = "https://errors.deployment.example";

/** Names of files that a build makes from their content. They never change, so browsers keep them. */
const HASHED_NAME = /[.-][\w-]{8,}\.(?:js|css|svg|webp|woff2)$/;

/**
 * No script or style within a page, and no request to another host (docs/design/console.md, "Content security policy"). `data:`
 * is for icons in style sheets.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Serves a site that was built as files. A path without a file is the site's own `404.html`. */
export function addStaticSite(app: FastifyInstance, { folder, path, addresses }: StaticSite): void {
  const readOwn = addressedFiles(folder, addresses);
  app.get(path.slice(0, -1), DOCUMENT, async (_request, reply) => reply.redirect(path, 308));
  app.register(
    async (site) => {
      site.addHook("onRequest", (_request, reply, done) => {
        reply.headers({
          "content-security-policy": CONTENT_SECURITY_POLICY,
          "cross-origin-opener-policy": "same-origin",
          "referrer-policy": "no-referrer",
        });
        done();
      });
      site.addHook("preHandler", async ({ method, raw, headers }, reply) => {
        if (method !== "GET" && method !== "HEAD") return undefined;
        const file = await readOwn(pathOf(raw.url ?? "/").slice(path.length));
        if (file === null) return undefined; // It is served as it is.
        const { etag, type, bytes, compressed } = file;
        reply.headers({ etag, "cache-control": "no-cache", vary: "accept-encoding" });
        if (headers["if-none-match"] === etag) return reply.code(304).send();
        reply.type(type);
        return acceptsGzip(headers["accept-encoding"])
          ? reply.header("content-encoding", "gzip").send(compressed)
          : reply.send(bytes);
      });
      const sendNotFound = (reply: FastifyReply): FastifyReply =>
        reply
          .code(404)
          .type("text/html; charset=utf-8")
          .send(createReadStream(join(folder, "404.html")));
      site.setNotFoundHandler((_request, reply) => sendNotFound(reply));
      site.setErrorHandler<FastifyError>((error, _request, reply) => {
        // A path that names no file in a proper way, such as one with `..` or two slashes.
        if (error.statusCode !== undefined && error.statusCode < 500) return sendNotFound(reply);
        throw error;
      });
      await site.register(fastifyStatic, {
        root: folder,
        decorateReply: false,
        dotfiles: "ignore",
        preCompressed: true,
        cacheControl: false,
        setHeaders: (reply, file) => {
          const isHashed = HASHED_NAME.test(file.replace(/\.gz$/, ""));
          reply.header("cache-control", isHashed ? "public, max-age=31536000, immutable" : "no-cache");
          // Programs to read: a browser would save what it does not know, and run nothing of this.
          if (PROGRAM.test(file)) reply.header("content-type", "text/plain; charset=utf-8");
        },
      });
    },
    { prefix: path },
  );
}

/** Where a listener serves the documentation. Its files name this path, so it is also the default of its build (`docs/.vitepress`). */
const DOCS_PATH = "/docs/";

/**
 * The documentation, and the pages to which the addresses in a problem's `type` lead. A code without a page in the documentation
 * has a short one (docs/design/console.md, "Documentation site").
 * @param folder of the built documentation; absent if it is not built
 */
export function addDocumentation(
  app: FastifyInstance,
  { baseUrl, errorsBaseUrl }: Pick<Config, "baseUrl" | "errorsBaseUrl">,
  folder?: string,
): void {
  for (const [code, problem] of Object.entries(PROBLEMS))
    app.get(`/errors/${code}`, DOCUMENT, async (_request, reply) =>
      folder !== undefined && existsSync(join(folder, "errors", code))
        ? reply.redirect(`${DOCS_PATH}errors/${code}/`)
        : reply.type("text/html; charset=utf-8").send(problemPage(code, problem)),
    );
  if (folder !== undefined)
    addStaticSite(app, {
      folder,
      path: DOCS_PATH,
      addresses: { [API_ADDRESS]: baseUrl, [ERRORS_ADDRESS]: errorsBaseUrl },
    });
}

/** The samples, which a reader opens. The scripts of the site have other names. */
const PROGRAM = /\/examples\/[^/]+\.(?:mjs|ts|py|php|java|go)(?:\.gz)?$/;

/** By extension, the files whose text can contain addresses, with their media types. */
const ADDRESSED: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  json: "application/json; charset=utf-8",
  md: "text/markdown; charset=utf-8",
  txt: "text/plain; charset=utf-8",
};
/** A name of a file in folders of the site: it cannot lead out of it. */
const FILE = /^(?:[\w-]+\/)*[\w-][\w.-]*\.(html|js|json|md|txt)$/;

type AddressedFile = {
  readonly etag: string;
  readonly type: string;
  readonly bytes: Buffer;
  readonly compressed: Buffer;
};

/**
 * Reads files with the addresses of this deployment. Null: there is no such file, or no address in it. A file is read again
 * when it has changed: a new build may take the place of the old one while the service runs.
 */
function addressedFiles(folder: string, addresses: Readonly<Record<string, string>>) {
  const known = new Map<string, { readonly changedMs: number; readonly file: AddressedFile | null }>();
  const own = Object.entries(addresses);
  return async (path: string): Promise<AddressedFile | null> => {
    const name = path === "" || path.endsWith("/") ? `${path}index.html` : path;
    const type = ADDRESSED[FILE.exec(name)?.[1] ?? ""];
    const source = join(folder, name);
    const stats = type === undefined ? undefined : await stat(source).catch(() => undefined);
    if (type === undefined || !stats?.isFile()) return null;
    const before = known.get(name);
    if (before?.changedMs === stats.mtimeMs) return before.file;
    const read = await readFile(source, "utf8");
    const text = own.reduce((changed, [from, to]) => changed.replaceAll(from, to), read);
    const file = text === read ? null : await withOwnAddresses(type, text);
    known.set(name, { changedMs: stats.mtimeMs, file });
    return file;
  };
}

const withOwnAddresses = async (type: string, text: string): Promise<AddressedFile> => ({
  type,
  bytes: Buffer.from(text),
  compressed: await promisify(gzip)(text),
  etag: `W/"${hash("sha256", text).slice(0, 32)}"`, // Of both forms.
});

/** The page at the address in a problem's `type`. */
function problemPage(
  code: string,
  { status, title, meaning, retry }: { status: number; title: string; meaning: string; retry: string },
): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${code}: ${title}</title>
<style>body { font: 1rem/1.6 system-ui, sans-serif; max-width: 40rem; margin: 3rem auto; padding: 0 1rem }</style>
<h1>${title}</h1>
<p><code>${code}</code>, status ${status}</p>
<h2>What it means</h2>
<p>${meaning}</p>
<h2>Retry?</h2>
<p>${retry}</p>
</html>
`;
}

/** Addresses of programs. The console has no page below them, so a wrong one is a 404 for a browser too. */
const OF_PROGRAMS = /^\/(?:api|auth|docs|errors|assets|metrics|livez|readyz|openapi[^/]*\.json)(?:\/|$)/;

const YEAR = "365d";

/**
 * The web console: its page on `/` and on every address that a browser opens and nothing else has, and its files under
 * `/assets`. The console is a client of `/api`; nothing here knows who asks.
 * @param folder of the built console; absent if it is not built
 */
export function addConsole(app: FastifyInstance, folder?: string): void {
  if (folder !== undefined)
    app.register(async (scope) => {
      // A page loads a dozen files: only those that fail are of interest in the log.
      scope.addHook("onRoute", (route) => {
        route.config = { ...route.config, isMonitoring: true };
      });
      // A path that names no file in a proper way, such as one with `..`.
      scope.setErrorHandler<FastifyError>((error, _request, reply) => {
        if ((error.statusCode ?? 500) < 500) return reply.callNotFound();
        throw error;
      });
      scope.register(fastifyStatic, {
        root: `${folder}/assets`,
        prefix: "/assets/",
        index: false,
        allowedPath: (path) => !path.endsWith("/"),
        // The names contain a hash of the contents.
        immutable: true,
        maxAge: YEAR,
        preCompressed: true,
        decorateReply: false,
      });
    });
  app.get("/*", DOCUMENT, async (request, reply) => {
    if (!isNavigation(request)) return reply.callNotFound();
    const html = await readPage(folder);
    if (html === null) return reply.code(503).type("text/plain; charset=utf-8").send(NOT_BUILT);
    const { headers, body } = consolePage(html);
    return reply.headers(headers).send(body);
  });
}

/**
 * The page of the latest build. It is read for each response: a new build may take the place of the old one while the service
 * runs, and later removes the scripts that an old page names.
 */
const readPage = async (folder: string | undefined): Promise<string | null> =>
  folder === undefined ? null : readFile(`${folder}/index.html`, "utf8").catch(() => null);

const NOT_BUILT =
  "The web console is not built. Run `npm ci`, or copy web/dist from an installation that has it.\n";

/** A browser opens a page. Programs, which accept anything, get the page of the first address only. */
function isNavigation({ raw, headers }: FastifyRequest): boolean {
  const path = pathOf(raw.url ?? "/");
  return path === "/" || (!OF_PROGRAMS.test(path) && /\btext\/html\b/.test(headers.accept ?? ""));
}

/** What `web/index.html` has in the place of the nonce. */
const PLACEHOLDER = "%STYLE_NONCE%";
const NONCE_BYTES = 16;

/**
 * The page of the console and its headers. Scripts and data come from this listener alone, and no script is in the page.
 * Mantine makes style elements while the page runs: the page gives it the nonce of the response
 * (docs/design/console.md, "Content security policy").
 */
function consolePage(html: string): { headers: Record<string, string>; body: string } {
  const nonce = randomBytes(NONCE_BYTES).toString("base64");
  return {
    headers: { ...PAGE_HEADERS, "content-security-policy": policy(nonce) },
    body: html.replaceAll(PLACEHOLDER, nonce),
  };
}

/** Like `no-store`, which all responses have: a stored page would have the nonce of an old response. */
const PAGE_HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "referrer-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=()",
};

const policy = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; ");

/**
 * Options of a route that browsers, balancers and link checkers read, and no client of the API. It also responds to `HEAD`,
 * as RFC 9110 expects. The routes of the tables do not: whatever they do not list is a 404.
 */
export const DOCUMENT = { exposeHeadRoute: true } as const;
