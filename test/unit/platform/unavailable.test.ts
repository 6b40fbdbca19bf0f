import pg from "pg";
import { describe, expect, it } from "vitest";
import {
  isOutOfReach,
  isRetryable,
  isUnavailable,
  UnavailableError,
} from "../../../src/platform/database/database.ts";
import { NoPrimaryError } from "../../../src/platform/database/servers.ts";

/** An error as PostgreSQL reports it. */
function reported(code: string, severity: "ERROR" | "FATAL" | undefined = undefined): Error {
  const error = new pg.DatabaseError("message", 0, "error");
  return Object.assign(error, { code, severity });
}

const failed = (code: string): Error => Object.assign(new Error("message"), { code });

describe("a failure of the database", () => {
  it.each([
    ["40003", "the outcome of a statement is unknown"],
    ["57P01", "the server is shut down, or its session ended"],
    ["57P02", "another session crashed"],
    ["57P03", "the server starts, recovers or stops"],
    ["57P05", "the session was idle for too long"],
    ["08000", "the connection failed"],
    ["08006", "the connection failed"],
    ["08P01", "the proxy does not speak the protocol"],
    ["25006", "the server is read-only, as after a switchover"],
    ["25P03", "the transaction was idle for too long"],
    ["25P04", "the transaction took too long"],
    ["53300", "there are too many connections"],
    ["53100", "the disk is full"],
  ])("%s concerns all callers, and a retry can succeed: %s", (code) => {
    expect([isUnavailable(reported(code)), isOutOfReach(reported(code))]).toEqual([true, true]);
  });

  it.each(["40001", "40P01", "57014", "55P03"])(
    "%s concerns its own caller, and a retry can succeed",
    (code) => {
      expect([isUnavailable(reported(code)), isOutOfReach(reported(code))]).toEqual([true, false]);
    },
  );

  it("08006 concerns its own caller if the session continues: the coordinator of Citus has lost a node", () => {
    const [ofNode, ofSession] = [reported("08006", "ERROR"), reported("08006", "FATAL")];
    expect([isUnavailable(ofNode), isOutOfReach(ofNode)]).toEqual([true, false]);
    expect([isUnavailable(ofSession), isOutOfReach(ofSession)]).toEqual([true, true]);
  });

  it.each([
    "failure on connection marked as essential: 127.0.0.1:5433",
    "SSL SYSCALL error: EOF detected\ninvalid socket",
    "server closed the connection unexpectedly\n\tThis probably means the server terminated abnormally",
    "could not receive data from server: Connection reset by peer",
    "no connection to the server",
  ])("a broken connection of Citus to a node concerns its own caller: %s", (message) => {
    const ofNode = Object.assign(reported("XX000", "ERROR"), { message });
    expect([isUnavailable(ofNode), isOutOfReach(ofNode)]).toEqual([true, false]);
  });

  it("no other internal error of PostgreSQL is a failure that a retry can fix", () => {
    expect(isUnavailable(reported("XX000", "ERROR"))).toBe(false);
  });

  it.each(["40001", "40P01"])("%s was rolled back, so the service may repeat it", (code) => {
    expect(isRetryable(reported(code))).toBe(true);
  });

  it.each(["57P01", "08006", "25006", "57014", "40003"])(
    "%s may have been committed, or not be wanted any more, so it is not repeated",
    (code) => {
      expect(isRetryable(reported(code))).toBe(false);
    },
  );

  it.each(["23505", "23514", "42601", "28P01", "3D000", "22P02"])(
    "%s is an error of the program or its configuration",
    (code) => {
      expect(isUnavailable(reported(code))).toBe(false);
    },
  );

  it.each([
    "ECONNREFUSED",
    "ECONNRESET",
    "EHOSTUNREACH",
    "ENETUNREACH",
    "EPIPE",
    "ETIMEDOUT",
    "ENOTFOUND",
    "EAI_AGAIN",
  ])("%s of the network concerns all callers", (code) => {
    expect([isUnavailable(failed(code)), isOutOfReach(failed(code))]).toEqual([true, true]);
  });

  it.each([
    "Connection terminated unexpectedly",
    "Connection terminated due to connection timeout",
    "timeout exceeded when trying to connect",
    "timeout expired",
    "Query read timeout",
    "Client has encountered a connection error and is not queryable",
    "There was an error establishing an SSL connection",
  ])('pg\'s "%s" concerns all callers', (message) => {
    expect([isUnavailable(new Error(message)), isOutOfReach(new Error(message))]).toEqual([true, true]);
  });

  it("is that no server accepts writes, but not that the service itself rejects work", () => {
    expect(isOutOfReach(new NoPrimaryError("none"))).toBe(true);
    expect([isUnavailable(new UnavailableError("full")), isOutOfReach(new UnavailableError("full"))]).toEqual(
      [true, false],
    );
    expect([
      isUnavailable(new Error("a bug")),
      isUnavailable("text"),
      isUnavailable(failed("EACCES")),
    ]).toEqual([false, false, false]);
  });
});
