import pg from "pg";
import { limitTime } from "./time-limit.ts";

/** Where one server listens. */
export type Server = { readonly host: string; readonly port: number };

/** Finds the server for each new session: its address can change while the service runs. */
export type Servers = {
  /** Null: the one that the address of the database names. @throws NoPrimaryError if there is none now */
  find(): Promise<Server | null>;
  /** No session could be opened on this server, or only one that accepts no writes. */
  failed(server: Server): void;
};

/** No server accepts writes at the moment. A later attempt can find one. */
export class NoPrimaryError extends Error {}

/** Settings that a server reports at the start of a session, without a statement. */
const READ_ONLY = ["in_hot_standby", "default_transaction_read_only"];

type Connected = ((error: Error) => void) | ((error: null, client: pg.Client) => void);

/**
 * A client of pg that opens its session on the server that `servers` finds, and accepts a server only if it accepts
 * writes. So a standby, such as the former primary after a switchover, fails `/readyz` and not each write.
 */
export const clientsOf = (servers: Servers): typeof pg.Client =>
  class extends pg.Client {
    constructor({ query_timeout, ...config }: pg.ClientConfig) {
      super(config);
      if (query_timeout !== undefined) limitTime(this, query_timeout);
      // An error without a listener would end the process. The pool has none between two users of a session, and its
      // end may arrive together with the response before. The next user learns of it from its first statement.
      this.on("error", () => undefined);
    }

    override connect(): Promise<pg.Client>;
    override connect(callback: Connected): void;
    override connect(callback?: Connected): Promise<pg.Client> | undefined {
      if (callback === undefined)
        return new Promise((resolve, reject) => {
          this.#connect((error) => (error === null ? resolve(this) : reject(error)));
        });
      // Of pg's two types this one has both cases.
      const report = callback as (error: Error | null, client?: pg.Client) => void;
      this.#connect((error) => (error === null ? report(null, this) : report(error)));
      return undefined;
    }

    #connect(report: (error: Error | null) => void): void {
      servers.find().then((server) => this.#connectTo(server, report), report);
    }

    #connectTo(server: Server | null, report: (error: Error | null) => void): void {
      if (server !== null) Object.assign(this, server);
      let isReadOnly = false;
      this.connection.on("parameterStatus", ({ parameterName, parameterValue }: ParameterStatus) => {
        isReadOnly ||= READ_ONLY.includes(parameterName) && parameterValue === "on";
      });
      super.connect((error: Error | null) => {
        if (server !== null && (error !== null || isReadOnly)) servers.failed(server);
        if (!isReadOnly) return report(error);
        this.end(() => undefined);
        report(new NoPrimaryError("The database server accepts no writes: it is a standby."));
      });
    }
  };

type ParameterStatus = { readonly parameterName: string; readonly parameterValue: string };
