import type { FastifyRequest } from "fastify";
import type { Logger } from "pino";
import { atMostEvery } from "../../../platform/log.ts";
import { SECOND_MS } from "../../../platform/time.ts";

/** Logs requests that failed. While the database is unavailable, many do: one line a second has their number. */
export function failureLog(
  log: Logger,
): (err: Error, request: FastifyRequest, isUnavailable: boolean) => void {
  const write = (err: Error, { id, method, routeOptions }: FastifyRequest, count: number): void =>
    log.error({ err, count, reqId: id, method, route: routeOptions.url }, "request failed");
  const writeUnavailable = atMostEvery<[Error, FastifyRequest]>(SECOND_MS, ([err, request], count) =>
    write(err, request, count),
  );
  return (err, request, isUnavailable) =>
    isUnavailable ? writeUnavailable([err, request]) : write(err, request, 1);
}
