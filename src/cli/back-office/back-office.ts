import type { Readable } from "node:stream";
import type { BackOfficeRequest } from "../requests/command.ts";

export type BackOfficeResponse = {
  readonly status: number;
  /** As the API wrote it; empty without a body. */
  readonly text: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** Whether `text` is CSV; `body` then has only `nextCursor`. */
  readonly isCsv?: boolean;
  /** What the operator can do about a problem that is not about the request, such as an invalid token. */
  readonly hint?: string;
};

/** The back office API, wherever it is: within this process, or at an address. */
export type BackOffice = {
  send(request: BackOfficeRequest): Promise<BackOfficeResponse>;
  upload(path: string, mediaType: string, bytes: Readable): Promise<BackOfficeResponse>;
  /** Writes a file as it arrives, so that memory does not hold it. Returns a problem, or a response without text. */
  download(request: BackOfficeRequest, write: (text: string) => Promise<void>): Promise<BackOfficeResponse>;
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
