import { userInfo } from "node:os";
import type { Readable } from "node:stream";
import { pino } from "pino";
import { createBackOffice } from "../back-office/app.ts";
import { messageOf } from "../operations/metrics.ts";
import { type Config, ConfigError, readConfig } from "../platform/config.ts";
import { SecretFileError } from "../platform/data-dir.ts";
import { createLog } from "../platform/log.ts";
import { createMetrics } from "../platform/metrics.ts";
import { systemClock } from "../platform/time.ts";
import { type OpenService, openService, PendingMigrationsError } from "../service/open-service.ts";
import type { BackOfficeRequest } from "./commands/command.ts";
import { ServiceUnavailableError, UsageError } from "./output.ts";

export type BackOfficeResponse = {
  readonly status: number;
  /** As the API wrote it; empty without a body. */
  readonly text: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** True if `text` is CSV; `body` then has only `nextCursor`. */
  readonly isCsv?: boolean;
  /** What the operator can do about a problem that is not about the request, such as an invalid token. */
  readonly hint?: string;
};

/** The back office API, wherever it is: within this process, or at an address. */
export type BackOffice = {
  send(request: BackOfficeRequest): Promise<BackOfficeResponse>;
  upload(path: string, mediaType: string, bytes: Readable): Promise<BackOfficeResponse>;
  /** Writes a file as it arrives, so that memory does not hold it. Returns a problem, or a response without text. */
  download(
    request: BackOfficeRequest,
    write: (part: Uint8Array) => Promise<void>,
  ): Promise<BackOfficeResponse>;
  close(): Promise<void>;
};

/** A response with these header fields and this text. Only JSON and CSV come here. */
export function readResponse(
  status: number,
  mediaType: string,
  nextCursor: string | null,
  text: string,
): BackOfficeResponse {
  if (mediaType.startsWith("text/csv")) return { status, text, body: { nextCursor }, isCsv: true };
  return { status, text, body: text === "" ? {} : JSON.parse(text) };
}

/** A terminal gets messages instead of log lines, unless LOG_LEVEL is set. */
export const cliLog = (environment: NodeJS.ProcessEnv, config: Config) =>
  createLog(environment["LOG_LEVEL"] ? config.logLevel : "silent", pino.destination({ dest: 2, sync: true }));

/**
 * Opens the back office within this process, as the operator: the same rules as over HTTP, without a listener.
 * @throws ConfigError; UnavailableError if the database cannot be used or lacks migrations; UsageError without the key of secrets
 */
export async function openInProcess(environment: NodeJS.ProcessEnv): Promise<BackOffice> {
  // Each command is a process of its own, and would be granted requests for many.
  const config = { ...readConfig(environment), backOfficeRateLimitPerMinute: 0 };
  return backOfficeOf(
    await orUnavailable(openService(config, cliLog(environment, config), systemClock, "as-it-is")),
  );
}

/** Says of a failure to open the database that it is one. What is wrong with the configuration and its files says so itself. */
export const orUnavailable = <Result>(opening: Promise<Result>): Promise<Result> =>
  opening.catch((error) => {
    if (error instanceof ConfigError) throw error;
    if (error instanceof SecretFileError) throw new UsageError(error.message);
    const message = error instanceof PendingMigrationsError ? "" : "The database cannot be used. ";
    throw new ServiceUnavailableError(`${message}${messageOf(error)}`);
  });

type InjectedResponse = {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, unknown>>;
};

function backOfficeOf({ context, close }: OpenService): BackOffice {
  const operator = {
    type: "token",
    id: null,
    name: operatorName(),
    grants: [{ role: "operator" }],
  } as const;
  const app = createBackOffice(context, async () => operator, createMetrics());
  const inject = ({ method, path, query, body }: BackOfficeRequest) => ({
    method,
    url: path,
    query,
    ...(body !== null && { payload: body }),
  });
  return {
    send: async (request) => {
      const response = await app.inject(inject(request));
      return responseOf(response, response.body);
    },
    upload: async (path, mediaType, bytes) => {
      const headers = { "content-type": mediaType };
      const response = await app.inject({ method: "POST", url: path, headers, payload: bytes });
      return responseOf(response, response.body);
    },
    download: async (request, write) => {
      const response = await app.inject({ ...inject(request), payloadAsStream: true });
      const problem: Buffer[] = [];
      for await (const part of partsOf(response.stream())) {
        if (response.statusCode >= 400) problem.push(part);
        else await write(part);
      }
      return responseOf(response, Buffer.concat(problem).toString());
    },
    close: async () => {
      await app.close();
      await close();
    },
  };
}

/** The response has begun, so an error in it is no problem document. */
async function* partsOf(stream: Readable): AsyncGenerator<Buffer> {
  try {
    yield* stream;
  } catch (error) {
    throw new ServiceUnavailableError(`The file is not complete: ${messageOf(error)}.`);
  }
}

const responseOf = ({ statusCode, headers }: InjectedResponse, text: string): BackOfficeResponse => {
  const nextCursor = headers["next-cursor"];
  const mediaType = text === "" ? "" : String(headers["content-type"]);
  return readResponse(statusCode, mediaType, nextCursor === undefined ? null : String(nextCursor), text);
};

/** Who the timeline of an order and the audit log name. */
function operatorName(): string {
  try {
    return `command line, ${userInfo().username}`;
  } catch {
    return "command line"; // In a container a user may have no name.
  }
}
