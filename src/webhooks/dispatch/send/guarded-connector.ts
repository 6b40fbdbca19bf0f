import { isIP, type LookupFunction, type Socket } from "node:net";
import { buildConnector } from "undici";
import { isPublicAddress, literalAddress, type Resolve } from "../../endpoints/public-address.ts";
import { AddressNotPublicError, NotHttpsError } from "./send-failure.ts";

type Connection = {
  timeoutMs: number;
  allowPrivateNetworks: boolean;
  lookup: Resolve;
};

/**
 * Opens the sender's connections, to public addresses only. Three checks, for each sees what the others cannot:
 * literal hosts, for which no look-up is called; all addresses of a name, of which none may be private, else repeating
 * the request until the private one comes first would do; and the address really connected to, before a byte is sent.
 */
export function createGuardedConnector({ timeoutMs, allowPrivateNetworks, lookup }: Connection) {
  const isAllowed = (address: string) => allowPrivateNetworks || isPublicAddress(address);
  const connect = buildConnector({
    allowH2: false, // One request at a time on each connection, so that none waits for another.
    timeout: timeoutMs,
    lookup: guardedLookup(lookup, isAllowed),
  });

  return (options: buildConnector.Options, callback: buildConnector.Callback): void => {
    const literal = literalAddress(options.hostname);
    if (literal !== null && !isAllowed(literal)) {
      // Later, like every other response: the client is not ready for one during the call.
      queueMicrotask(() => callback(new AddressNotPublicError(), null));
      return;
    }
    // The connector passes the socket at once, which its type does not say.
    const socket = connect(options, callback) as unknown as Socket;
    // Before the listeners that are there already: with TLS, the first of them begins the handshake.
    socket.prependOnceListener("connect", () => {
      if (!isAllowed(socket.remoteAddress ?? "")) socket.destroy(new AddressNotPublicError());
      // An endpoint may be from a time when private networks were allowed.
      else if (!allowPrivateNetworks && options.protocol !== "https:") socket.destroy(new NotHttpsError());
    });
  };
}

function guardedLookup(lookup: Resolve, isAllowed: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname).then(
      (addresses) => {
        const [first] = addresses;
        if (first === undefined) return callback(notFound(hostname), "");
        if (!addresses.every(({ address }) => isAllowed(address)))
          return callback(new AddressNotPublicError(), "");
        if (options.all) return callback(null, [...addresses]);
        callback(null, first.address, isIP(first.address));
      },
      (error) => callback(error, ""),
    );
  };
}

const notFound = (hostname: string): NodeJS.ErrnoException =>
  Object.assign(new Error(`${hostname} has no address.`), { code: "ENOTFOUND" });
