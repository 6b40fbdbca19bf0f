import { createReadStream } from "node:fs";
import { join } from "node:path";
import fastifyStatic from "@fastify/static";
import type { FastifyError, FastifyInstance, FastifyReply } from "fastify";
import { DOCUMENT } from "./console/document.ts";

/** A folder of files, and the path below which the listener serves it. The path begins and ends with a slash. */
export type StaticSite = { readonly folder: string; readonly path: string };

/** Names of files that a build makes from their content. They never change, so browsers keep them. */
const HASHED_NAME = /[.-][\w-]{8,}\.(?:js|css|svg|webp|woff2)$/;

/** No script or style within a page, and no request to another host (decision 0131). `data:` is for icons in style sheets. */
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
export function addStaticSite(app: FastifyInstance, { folder, path }: StaticSite): void {
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
        },
      });
    },
    { prefix: path },
  );
}
