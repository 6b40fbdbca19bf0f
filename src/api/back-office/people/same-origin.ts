import type { IncomingHttpHeaders } from "node:http";
import type { Config } from "../../../platform/config.ts";
import type { Problem } from "../../../platform/wire/problems.ts";

type Sent = Pick<IncomingHttpHeaders, "origin" | "host" | "cookie"> & {
  readonly "sec-fetch-site"?: string | string[] | undefined;
};

/**
 * Whether a request that changes something comes from a page of this service (decision 0117). Browsers name the origin of a
 * page with every POST, and a page cannot change it. It is compared with the host that the browser has sent the request to,
 * and with the configured address, for a proxy that sends another host.
 */
export function isSameOrigin(headers: Sent, { backOfficeUrl }: Pick<Config, "backOfficeUrl">): boolean {
  const { origin, host, "sec-fetch-site": site } = headers;
  if (origin !== undefined)
    return (
      origin === new URL(backOfficeUrl).origin || (URL.canParse(origin) && new URL(origin).host === host)
    );
  if (site !== undefined) return site === "same-origin";
  // A program without cookies has nothing that a foreign page could use.
  return headers.cookie === undefined;
}

export const foreignOrigin: Problem = {
  code: "forbidden",
  detail:
    "The request carries cookies, and does not come from a page of this service. A program must send a token instead of cookies, and a proxy must keep the Host header, or BACK_OFFICE_URL must be the address that people use.",
};
