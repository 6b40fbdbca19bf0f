/** The browser, or the program, that signs in. */
export type Visitor = {
  /** The `Cookie` header. Empty: it sent none. */
  readonly cookie: string;
  readonly userAgent: string;
  readonly ipAddress: string;
  /** What attempts are counted by: the address, or the network of an IPv6 address. */
  readonly network: string;
  /** The `Origin` header, which was compared with the address of the service. Empty: it sent none. */
  readonly origin: string;
  readonly requestId: string;
  /** Id of the person that the page shows as signed in. Null: the request names none. */
  readonly expectedPersonId: string | null;
};

/** What better-auth reads of a request. */
export const headersOf = ({ cookie, userAgent, ipAddress, origin }: Visitor): Headers =>
  new Headers({
    ...(cookie !== "" && { cookie }),
    ...(origin !== "" && { origin }),
    "user-agent": userAgent.slice(0, 500),
    "x-forwarded-for": ipAddress,
  });
