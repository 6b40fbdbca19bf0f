import { readFile } from "node:fs/promises";
import fastifyStatic from "@fastify/static";
import type { FastifyError, FastifyInstance, FastifyRequest } from "fastify";
import { pathOf } from "../../../platform/wire/problems.ts";
import { consolePage } from "./console-page.ts";
import { DOCUMENT } from "./document.ts";

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
