/** Where an endpoint is. */
export type EndpointHost = {
  /** The name or address. */
  readonly name: string;
  /** With the port. */
  readonly origin: string;
};

/** @param url an accepted URL of an endpoint */
export function hostOf({
  hostname,
  protocol,
  port,
}: Pick<URL, "hostname" | "protocol" | "port">): EndpointHost {
  return { name: hostname, origin: `${hostname}:${port === "" ? DEFAULT_PORTS[protocol] : port}` };
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = { "https:": "443", "http:": "80" };
