import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

/** The timer of each request whose body is still arriving. */
const TIMERS = new WeakMap<FastifyRequest["raw"], NodeJS.Timeout>();

/**
 * Ends requests whose bodies do not arrive in time. Node's own timeout is one for the whole listener, so a listener with
 * an upload, which takes long, would grant its time to every caller.
 */
export function addBodyTimeout(app: FastifyInstance, timeoutMs: number): void {
  app.addHook("onRequest", (request, _reply, done) => {
    const { raw } = request;
    if (raw.complete) return done();
    const timer = setTimeout(() => {
      const error = Object.assign(new Error("The body did not arrive in time."), { code: TIMED_OUT });
      // As Node reports its own timeout.
      if (!raw.complete) app.server.emit("clientError", error, raw.socket);
    }, timeoutMs).unref();
    TIMERS.set(raw, timer);
    raw.once("end", () => clearTimeout(timer)).once("close", () => clearTimeout(timer));
    done();
  });
}

const TIMED_OUT = "ERR_HTTP_REQUEST_TIMEOUT";

/** An `onRequest` hook of an upload, after its caller is admitted: only the timeout of the listener is left. */
export function allowLongBody(request: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  clearTimeout(TIMERS.get(request.raw));
  done();
}
