import { isIP, type LookupFunction, type Socket } from "node:net";
import { buildConnector } from "undici";
import { isPublicAddress, literalAddress } from "../../endpoints/public-address.ts";
import { NoSuchNameError } from "../names/lookup-errors.ts";
import type { Resolve } from "../names/name-lookup.ts";
import { ReadLimit } from "./read-limit.ts";
import { AddressNotPublicError, NoPublicAddressError, NotHttpsError } from "./send-failure.ts";

type Connection = {
  timeoutMs: number;
  allowPrivateNetworks: boolean;
  /** Called during the call of the connector. */
  lookup: (name: string) => ReturnType<Resolve>;
};

/**
 * Opens the connections of the sender, to public addresses only. There are three checks, because each finds what the
 * others cannot: literal addresses, for which no lookup happens; all addresses of a name, of which none may be private,
 * because a partner could repeat the request until the private one comes first; and the address of the connection, before
 * a byte is sent.
 */
export function createGuardedConnector(connection: Connection) {
  const { timeoutMs, allowPrivateNetworks } = connection;
  const isAllowed = (address: string) => allowPrivateNetworks || isPublicAddress(address);
  const connect = buildConnector({
    allowH2: false, // One request at a time on each connection, so that none waits for another.
    timeout: timeoutMs,
    lookup: guardedLookup(connection),
  });

  const readLimit = new ReadLimit();

  const open = (options: buildConnector.Options, callback: buildConnector.Callback): void => {
    const literal = literalAddress(options.hostname);
    if (literal !== null && !isAllowed(literal)) {
      // Called later, because the client does not expect a result during this call.
      queueMicrotask(() => callback(new AddressNotPublicError(), null));
      return;
    }
    // The connector returns the socket, although its type is wider.
    const socket = connect(options, callback) as unknown as Socket;
    readLimit.watch(socket, options.protocol === "https:" ? "secureConnect" : "connect");
    // Before the existing listeners: with TLS, the first of them begins the handshake.
    socket.prependOnceListener("connect", () => {
      if (!isAllowed(socket.remoteAddress ?? ""))
        socket.destroy(literal === null ? new NoPublicAddressError() : new AddressNotPublicError());
      // The endpoint may have been registered while private networks were allowed.
      else if (!allowPrivateNetworks && options.protocol !== "https:") socket.destroy(new NotHttpsError());
    });
  };
  return { connect: open, socketCount: () => readLimit.socketCount };
}

/**
 * Where private networks are not allowed, a name that does not exist and one with a private address are the same, because
 * the partner reads the error.
 */
function guardedLookup({ lookup, allowPrivateNetworks }: Connection): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname).then(
      (addresses) => {
        const [first] = addresses;
        const isAllowed = allowPrivateNetworks || addresses.every(({ address }) => isPublicAddress(address));
        if (first === undefined || !isAllowed) return callback(new NoPublicAddressError(), "");
        if (options.all) return callback(null, [...addresses]);
        callback(null, first.address, isIP(first.address));
      },
      (error) => {
        const isHidden = error instanceof NoSuchNameError && !allowPrivateNetworks;
        callback(isHidden ? new NoPublicAddressError() : error, "");
      },
    );
  };
}
