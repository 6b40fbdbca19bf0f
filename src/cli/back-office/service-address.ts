import { isIP } from "node:net";
import { UsageError } from "../failure.ts";

/** Where the back office of a running service is, and the token that it accepts. */
export type ServiceAddress = { readonly url: URL; readonly token: string };

/**
 * Reads the address and the token. Null without an address: the command then works beside the database. The token is
 * never an argument, because other users of the machine can read the arguments of a process.
 * @param option the value of `--url`
 * @throws UsageError
 */
export function readServiceAddress(
  option: string | undefined,
  environment: NodeJS.ProcessEnv,
): ServiceAddress | null {
  const text = option ?? environment["PARTNER_ORDERS_URL"] ?? "";
  if (text === "") {
    if (option !== undefined) throw new UsageError("--url must be the address of the back office.");
    return null;
  }
  return {
    url: readUrl(text, option === undefined ? "PARTNER_ORDERS_URL" : "--url"),
    token: readToken(environment),
  };
}

function readUrl(text: string, name: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isHttp = url?.protocol === "https:" || url?.protocol === "http:";
  // The text is not repeated: it may contain a password.
  if (
    url === null ||
    !isHttp ||
    url.username !== "" ||
    url.password !== "" ||
    url.search !== "" ||
    url.hash !== ""
  )
    throw new UsageError(
      `${name} must be the address of the back office, such as https://back-office.example.com, without a user name or a query.`,
    );
  return url;
}

function readToken(environment: NodeJS.ProcessEnv): string {
  const token = (environment["PARTNER_ORDERS_TOKEN"] || environment["OPERATOR_TOKEN"] || "").trim();
  if (token === "")
    throw new UsageError(
      "A token is missing: set PARTNER_ORDERS_TOKEN, or OPERATOR_TOKEN, in the environment.",
    );
  if (!/^[\x21-\x7e]+$/.test(token))
    throw new UsageError("The token in the environment has spaces or characters that are not ASCII.");
  return token;
}

/** Whether requests leave this machine without encryption. */
export function isUnencrypted({ protocol, hostname }: URL): boolean {
  const host = hostname.replace(/^\[|\]$/g, "");
  const isLocal = host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
  return protocol === "http:" && !isLocal;
}
