import { lookup } from "node:dns/promises";
import { StartError } from "../platform/environment/start-error.ts";

/** The part of an HTTP listener that `src/app` uses. */
export type Listener = {
  listen(address: { host: string; port: number }): Promise<string>;
  close(): Promise<unknown>;
  readonly server: { closeAllConnections(): void };
};

/** Where a listener listens, and the variable that sets it. */
type Address = {
  readonly host: string;
  readonly port: number;
  readonly variable: "PORT" | "BACK_OFFICE_PORT";
};

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: "is in use by another program",
  EACCES: "may not be used without further rights",
};

const NOT_OF_THIS_MACHINE = ["EADDRNOTAVAIL", "ENOTFOUND", "EAI_AGAIN"];

/**
 * Returns the address of the listener. A name with several addresses, as `localhost` may have, means the first IPv4 one: for
 * each further one Fastify would open a server of its own, without the limits of connections and without an orderly stop.
 * @throws StartError
 */
export async function listen(app: Listener, { host, port, variable }: Address): Promise<string> {
  try {
    const { address } = await lookup(host, { order: "ipv4first" });
    return await app.listen({ host: address, port });
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException; // Node throws errors of the system.
    if (NOT_OF_THIS_MACHINE.includes(code))
      throw new StartError(`${host} is not an address of this machine: set HOST to one that is.`);
    const reason = REASONS[code];
    if (reason === undefined) throw error;
    throw new StartError(`Port ${port} ${reason}: set ${variable} to a free port.`);
  }
}

/** When the service stops, a request that is not finished after this time is cut off. Less than `DRAIN_MS` of stop.ts. */
const REQUESTS_MS = 4_500;

export async function closeListener(app: Listener): Promise<void> {
  const cutOff = setTimeout(() => app.server.closeAllConnections(), REQUESTS_MS);
  await app.close();
  clearTimeout(cutOff);
}
