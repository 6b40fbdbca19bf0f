import type { DeliveryDetails } from "../sdk/src/index.ts";

type Attempt = DeliveryDetails["attempts"][number];

/** What a person should do about a failed attempt, by `errorCode`. Others have no advice. */
const ADVICE: Readonly<Record<string, string>> = {
  timeout:
    "The receiver did not respond in time. Store the event and respond at once; process it afterwards, in the background.",
  dns_failed: "The name of the endpoint's host cannot be resolved. Check its DNS records.",
  address_not_public:
    "The endpoint is not on a public address. Use a public https URL, or a pull endpoint for a machine behind a firewall.",
  connection_refused:
    "Nothing listens at the address and port. Is the receiver running, and is its port open?",
  connection_closed:
    "The receiver, or a proxy in front of it, closed the connection before it had responded.",
  host_unreachable: "There is no way to the address. Check firewalls and routes.",
  tls_failed: "The certificate is not valid for the name, has expired, or lacks an intermediate certificate.",
  invalid_response: "What responded does not speak HTTP. Check the port.",
  response_too_large: "The response is too large. Respond with a status and no body.",
  outcome_unknown:
    "The attempt was cut off on our side. It is made again; the receiver may get the event twice.",
};

/** By status, if the receiver responded with one. */
function adviceAbout(status: number): string {
  if (status === 401 || status === 403)
    return "The receiver rejected the request. If it checks the signature: use the raw body and the endpoint's own secret. If a gateway asks for a key, give the endpoint static headers.";
  if (status === 404) return "The path does not exist on the receiver. Compare it with the endpoint's URL.";
  if (status === 405) return "The receiver does not take POST at this path.";
  if (status === 410)
    return "410 says that the endpoint is gone, so it was paused. Resume it when the receiver is back.";
  if (status === 413) return "The receiver's limit for bodies is too low: events have up to 1 MiB.";
  if (status === 429)
    return "The receiver limits requests. Lower maxInFlight of the endpoint, or raise the limit.";
  if (status >= 300 && status < 400)
    return "Redirects are not followed. Change the URL of the endpoint to where it leads.";
  if (status >= 500) return "The receiver failed. Look into its log at this time.";
  return "Only 2xx is a success. The receiver must respond with it as soon as it has stored the event.";
}

/** The attempts of a delivery without the bodies that were sent, and with what to do about each. */
export function explainAttempts({ attempts, ...delivery }: DeliveryDetails) {
  return { delivery, attempts: attempts.map(explained) };
}

const explained = ({ startedAt, responseStatus, responseBody, error, errorCode }: Attempt) => ({
  startedAt,
  responseStatus,
  responseBody,
  error,
  advice: adviceOf(responseStatus, error, errorCode),
});

function adviceOf(status: number | null, error: string | null, code: string | null): string | null {
  if (error === null) return null;
  return status === null ? (ADVICE[code ?? ""] ?? null) : adviceAbout(status);
}
