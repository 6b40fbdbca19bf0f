import { userInfo } from "node:os";
import type { Readable } from "node:stream";
import { pino } from "pino";
import { createBackOffice } from "../api/back-office/app.ts";
import { type OpenService, openService } from "../app/open-service.ts";
import type { Actor } from "../lifecycle/applied-transition.ts";
import { systemClock } from "../platform/clock.ts";
import { type Config, readConfig } from "../platform/config.ts";
import type { Context } from "../platform/context.ts";
import { createLog } from "../platform/log.ts";
import { createMetrics } from "../platform/metrics.ts";
import type { BackOfficeRequest } from "./requests/command.ts";

export type BackOfficeResponse = {
  readonly status: number;
  /** As the API wrote it; empty without a body. */
  readonly text: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** Whether `text` is CSV; `body` then has only `nextCursor`. */
  readonly isCsv?: boolean;
};

/** The back office within this process, as the operator: the same rules as over HTTP, without a listener. */
export type BackOffice = {
  readonly context: Context;
  /** Who runs the command line. */
  readonly operator: Actor;
  send(request: BackOfficeRequest): Promise<BackOfficeResponse>;
  upload(path: string, mediaType: string, bytes: Readable): Promise<BackOfficeResponse>;
  close(): Promise<void>;
};

/** A terminal gets messages instead of log lines, unless LOG_LEVEL is set. */
export const cliLog = (environment: NodeJS.ProcessEnv, config: Config) =>
  createLog(environment["LOG_LEVEL"] ? config.logLevel : "silent", pino.destination({ dest: 2, sync: true }));

/** @throws ConfigError; PendingMigrationsError; and what an unavailable database throws. */
export async function openBackOffice(
  environment: NodeJS.ProcessEnv,
  schema: "migrate" | "as-it-is" = "as-it-is",
): Promise<BackOffice> {
  const config = readConfig(environment);
  return backOfficeOf(await openService(config, cliLog(environment, config), systemClock, schema));
}

type InjectedResponse = {
  readonly statusCode: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, unknown>>;
};

function backOfficeOf({ context, close }: OpenService): BackOffice {
  const operator = { kind: "operator", name: operatorName() } as const;
  const app = createBackOffice(context, async () => operator, createMetrics());
  const responseOf = ({ statusCode, body, headers }: InjectedResponse): BackOfficeResponse => {
    const isCsv = String(headers["content-type"]).startsWith("text/csv");
    if (isCsv) {
      const nextCursor = headers["next-cursor"] ?? null;
      return { status: statusCode, text: body, body: { nextCursor }, isCsv };
    }
    return { status: statusCode, text: body, body: body === "" ? {} : JSON.parse(body) };
  };
  return {
    context,
    operator,
    send: async ({ method, path, query, body }) =>
      responseOf(await app.inject({ method, url: path, query, ...(body !== null && { payload: body }) })),
    upload: async (path, mediaType, bytes) =>
      responseOf(
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

/** Who the timeline of an order and the audit log name. */
function operatorName(): string {
  try {
    return `command line, ${userInfo().username}`;
  } catch {
    return "command line"; // In a container a user may have no name.
  }
}
