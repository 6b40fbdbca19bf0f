import { userInfo } from "node:os";
import type { Readable } from "node:stream";
import { pino } from "pino";
import { createBackOffice } from "../api/back-office/app.ts";
import { type OpenService, openService } from "../app/open-service.ts";
import { systemClock } from "../platform/clock.ts";
import { type Config, readConfig } from "../platform/config.ts";
import type { Context } from "../platform/context.ts";
import { createLog } from "../platform/log.ts";
import { createMetrics } from "../platform/metrics.ts";
import type { OfficeRequest } from "./requests/command.ts";

export type OfficeAnswer = {
  readonly status: number;
  /** As the API wrote it; empty without a body. */
  readonly text: string;
  readonly body: Readonly<Record<string, unknown>>;
};

/** The back office in this process, for the operator alone: the same rules as over HTTP, and nobody listens. */
export type Office = {
  readonly context: Context;
  send(request: OfficeRequest): Promise<OfficeAnswer>;
  upload(path: string, mediaType: string, bytes: Readable): Promise<OfficeAnswer>;
  close(): Promise<void>;
};

/** A command does one thing after the other. */
const DATABASE_CONNECTIONS_MAX = 4;

/** Whatever is told to somebody who waits at a terminal is told as words; the log is for those who ask for it. */
export const cliLog = (environment: NodeJS.ProcessEnv, config: Config) =>
  createLog(environment["LOG_LEVEL"] ? config.logLevel : "silent", pino.destination({ dest: 2, sync: true }));

/** @throws ConfigError; PendingMigrationsError; and what a database out of reach throws. */
export async function openOffice(
  environment: NodeJS.ProcessEnv,
  schema: "migrate" | "as-it-is" = "as-it-is",
): Promise<Office> {
  const config = readConfig(environment);
  const options = { schema, connectionsMax: DATABASE_CONNECTIONS_MAX };
  return officeOf(await openService(config, cliLog(environment, config), systemClock, options));
}

function officeOf({ context, close }: OpenService): Office {
  const operator = { kind: "operator", name: operatorName() } as const;
  const app = createBackOffice(context, async () => operator, createMetrics());
  const answerOf = ({ statusCode, body }: { statusCode: number; body: string }): OfficeAnswer => ({
    status: statusCode,
    text: body,
    body: body === "" ? {} : JSON.parse(body),
  });
  return {
    context,
    send: async ({ method, path, query, body }) =>
      answerOf(await app.inject({ method, url: path, query, ...(body !== null && { payload: body }) })),
    upload: async (path, mediaType, bytes) =>
      answerOf(
        await app.inject({
          method: "POST",
          url: path,
          headers: { "content-type": mediaType },
          payload: bytes,
        }),
      ),
    close: async () => {
      await app.close();
      await close();
    },
  };
}

/** Who the timeline of an order names. */
function operatorName(): string {
  try {
    return `command line, ${userInfo().username}`;
  } catch {
    return "command line"; // In a container a user may have no name.
  }
}
