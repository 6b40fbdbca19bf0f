import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { type Static, Type } from "typebox";
import type { KeyAccess } from "../../merchants/api-key.ts";
import { MAIL_ADDRESS_LENGTH_MAX, normalMailAddress } from "../../platform/mail-address.ts";
import { DAY_MS, EVENTS_KEPT_MS, parseTime } from "../../platform/time.ts";
import type { ValidationError } from "../../platform/wire/problems.ts";
import type { Violation } from "../../platform/wire/rules.ts";
import { dateTime, describedAs, nullable } from "../../platform/wire/schemas.ts";
import { BACK_OFFICE_EVENT_TYPES } from "../events/back-office-event.ts";
import { DEFAULT_EVENT_TYPES } from "../events/event.ts";
import type { OwnerKind } from "../owner.ts";
import {
  ENDPOINT_TEXTS,
  type EndpointEventType,
  EndpointKindSchema,
  EndpointModeSchema,
  type EndpointSettings,
  EVENT_TYPE_SCHEMAS,
  EventTypeSchema,
  IN_FLIGHT_MAX_DEFAULT,
  IN_FLIGHT_MAX_LIMIT,
  type NewEndpoint,
} from "./endpoint.ts";
import { OVERLAP_HOURS_DEFAULT, OVERLAP_HOURS_MAX } from "./secrets.ts";
import { headerErrors, headersRequestField } from "./static-headers.ts";

const urlField = Type.String({
  description: ENDPOINT_TEXTS.url,
  examples: ["https://partner.example/webhooks"],
});
const descriptionField = nullable(
  Type.String({ minLength: 1, maxLength: 255, format: "text" }),
  ENDPOINT_TEXTS.description,
);
const EVENT_TYPES_TEXT = `${ENDPOINT_TEXTS.eventTypes} Duplicates are ignored.`;
const eventTypesField = Type.Array(EventTypeSchema, {
  minItems: 1,
  maxItems: 100,
  description: EVENT_TYPES_TEXT,
});
const alertEmailField = nullable(
  Type.String({ format: "email", maxLength: MAIL_ADDRESS_LENGTH_MAX }),
  ENDPOINT_TEXTS.alertEmail,
);
const maxInFlightField = Type.Integer({
  minimum: 1,
  maximum: IN_FLIGHT_MAX_LIMIT,
  description: `${ENDPOINT_TEXTS.maxInFlight} Default at creation: ${IN_FLIGHT_MAX_DEFAULT}.`,
});

export const EndpointRequestSchema = Type.Object(
  {
    kind: Type.Optional(describedAs(EndpointKindSchema, "Default: `push`. It cannot be changed.")),
    url: Type.Optional(
      describedAs(urlField, `${ENDPOINT_TEXTS.url} Required of a push endpoint; a pull endpoint has none.`),
    ),
    description: Type.Optional(descriptionField),
    eventTypes: Type.Optional({
      ...eventTypesField,
      description: `${EVENT_TYPES_TEXT} Default: every type except \`order.accepted\`, \`order.inProgress\`, \`order.shipmentUpdated\`, \`order.paymentFailed\` and \`order.linesCanceled\`, which must be named.`,
    }),
    maxInFlight: Type.Optional(maxInFlightField),
    headers: Type.Optional(headersRequestField),
    alertEmail: Type.Optional(alertEmailField),
    mode: Type.Optional(
      describedAs(EndpointModeSchema, "Default: `live`. A test key creates test endpoints only."),
    ),
  },
  {
    title: "WebhookEndpointRequest",
    description: "A new endpoint. Unknown fields are rejected.",
    additionalProperties: false,
  },
);

export const EndpointChangeSchema = Type.Object(
  {
    kind: Type.Optional(
      describedAs(EndpointKindSchema, "It is set at the creation: a request to change it is rejected."),
    ),
    url: Type.Optional(urlField),
    description: Type.Optional(descriptionField),
    eventTypes: Type.Optional(eventTypesField),
    maxInFlight: Type.Optional(maxInFlightField),
    headers: Type.Optional(headersRequestField),
    alertEmail: Type.Optional(alertEmailField),
  },
  {
    title: "WebhookEndpointUpdate",
    description: "Changes of an endpoint. Absent fields keep their values, unknown ones are rejected.",
    additionalProperties: false,
  },
);

export const PingSchema = Type.Object(
  {
    type: Type.Optional(
      describedAs(
        EventTypeSchema,
        "The type to send a sample of, whatever types the endpoint receives. Without it, the event is a `webhook.ping`.",
      ),
    ),
  },
  { title: "PingRequest", description: "Which test event to send." },
);

type EndpointRequest = Omit<Static<typeof EndpointRequestSchema>, "eventTypes"> & {
  eventTypes?: EndpointEventType[];
};
type EndpointChange = Omit<Static<typeof EndpointChangeSchema>, "eventTypes"> & {
  eventTypes?: EndpointEventType[];
};

/** The requests of the back office, by the owner of the endpoint. Only a connection has test orders. */
const requestsOf = (kind: "merchant" | "facility", name: string) => {
  const eventTypes = Type.Array(EVENT_TYPE_SCHEMAS[kind], {
    minItems: 1,
    maxItems: 100,
    description: `${EVENT_TYPES_TEXT} Default: every type.`,
  });
  return {
    request: Type.Unsafe<EndpointRequest>(
      Type.Object(
        {
          url: urlField,
          description: Type.Optional(descriptionField),
          eventTypes: Type.Optional(eventTypes),
          maxInFlight: Type.Optional(maxInFlightField),
          headers: Type.Optional(headersRequestField),
          alertEmail: Type.Optional(alertEmailField),
        },
        {
          title: `${name}WebhookEndpointRequest`,
          description: `A new endpoint of a ${kind}. Unknown fields are rejected.`,
          additionalProperties: false,
        },
      ),
    ),
    change: Type.Unsafe<EndpointChange>(
      Type.Object(
        {
          url: Type.Optional(urlField),
          description: Type.Optional(descriptionField),
          eventTypes: Type.Optional({ ...eventTypes, description: EVENT_TYPES_TEXT }),
          maxInFlight: Type.Optional(maxInFlightField),
          headers: Type.Optional(headersRequestField),
          alertEmail: Type.Optional(alertEmailField),
        },
        {
          title: `${name}WebhookEndpointUpdate`,
          description: `Changes of an endpoint of a ${kind}. Absent fields keep their values, unknown ones are rejected.`,
          additionalProperties: false,
        },
      ),
    ),
    ping: Type.Unsafe<{ type?: EndpointEventType }>(
      Type.Object(
        {
          type: Type.Optional(
            describedAs(
              EVENT_TYPE_SCHEMAS[kind],
              "The type to send a sample of, whatever types the endpoint receives. Without it, the event is a `webhook.ping`.",
            ),
          ),
        },
        { title: `${name}PingRequest`, description: "Which test event to send." },
      ),
    ),
    defaultTypes: BACK_OFFICE_EVENT_TYPES[kind],
  };
};

export const ENDPOINT_REQUESTS = {
  connection: {
    request: Type.Unsafe<EndpointRequest>(EndpointRequestSchema),
    change: Type.Unsafe<EndpointChange>(EndpointChangeSchema),
    ping: Type.Unsafe<{ type?: EndpointEventType }>(PingSchema),
    defaultTypes: DEFAULT_EVENT_TYPES as readonly EndpointEventType[],
  },
  merchant: requestsOf("merchant", "Merchant"),
  facility: requestsOf("facility", "Facility"),
} as const satisfies Record<OwnerKind, unknown>;

export const RotationSchema = Type.Object(
  {
    overlapHours: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: OVERLAP_HOURS_MAX,
        default: OVERLAP_HOURS_DEFAULT,
        description:
          "Hours during which older secrets sign beside the new one, at most. 0 ends them at once, for example after a leak.",
      }),
    ),
  },
  {
    title: "SecretRotation",
    description: "How to replace a signing secret. Unknown fields are rejected.",
    additionalProperties: false,
  },
);

export const RecoveryRequestSchema = Type.Object(
  { since: dateTime("Failed deliveries of events from this time on are sent again. At most 30 days ago.") },
  { title: "RecoveryRequest", description: "Which failed deliveries to send again." },
);

/** Absent fields get their defaults. */
export const newSettings = (
  request: EndpointRequest,
  defaultTypes: readonly EndpointEventType[] = DEFAULT_EVENT_TYPES,
): NewEndpoint => ({
  kind: request.kind ?? "push",
  url: request.url ?? null,
  description: request.description ?? null,
  eventTypes: [...new Set(request.eventTypes ?? defaultTypes)],
  inFlightMax: request.maxInFlight ?? IN_FLIGHT_MAX_DEFAULT,
  headers: request.headers ?? {},
  alertEmail: request.alertEmail == null ? null : normalMailAddress(request.alertEmail),
  mode: request.mode ?? "live",
});

/** Absent fields are not changed. */
export const changedSettings = ({
  url,
  description,
  eventTypes,
  maxInFlight,
  headers,
  alertEmail,
}: EndpointChange): Partial<EndpointSettings> => ({
  ...(url !== undefined && { url }),
  ...(description !== undefined && { description }),
  ...(eventTypes !== undefined && { eventTypes: [...new Set(eventTypes)] }),
  ...(maxInFlight !== undefined && { inFlightMax: maxInFlight }),
  ...(headers !== undefined && { headers }),
  ...(alertEmail !== undefined && {
    alertEmail: alertEmail === null ? null : normalMailAddress(alertEmail),
  }),
});

/**
 * The first endpoint that a developer registers is often a receiver of its own machine
 * (docs/design/signing.md, "Public addresses only").
 */
const FOR_DEVELOPMENT = { setting: "WEBHOOK_ALLOW_PRIVATE_NETWORKS=true" };

/** The errors of an endpoint that a schema cannot find. */
export const endpointErrors = (body: unknown, allowPrivateNetworks: boolean): ValidationError[] => [
  ...urlErrors(body, allowPrivateNetworks),
  ...headerErrors(body),
];

function urlErrors(body: unknown, allowPrivateNetworks: boolean): ValidationError[] {
  const { url } = (body ?? {}) as { url?: unknown }; // The body may have any form; a missing member is undefined.
  const error = typeof url === "string" ? endpointUrlError(url, allowPrivateNetworks) : null;
  if (typeof url !== "string" || error === null) return [];
  const isLifted = !allowPrivateNetworks && endpointUrlError(url, true) === null;
  return [{ pointer: "/url", ...error, ...(isLifted && FOR_DEVELOPMENT) }];
}

/** The errors of the kind of a new endpoint of a connection: a push endpoint has a URL, and a pull endpoint none. */
export function kindErrors(body: unknown): ValidationError[] {
  const {
    kind = "push",
    url,
    headers,
  } = (body ?? {}) as { kind?: unknown; url?: unknown; headers?: unknown }; // As above.
  if (kind === "pull")
    return [
      ...(url == null ? [] : [{ pointer: "/url", rule: "push_endpoint" } as const]),
      ...(headers == null ? [] : [{ pointer: "/headers", rule: "push_endpoint" } as const]),
    ];
  return kind === "push" && url == null ? [{ pointer: "/url", rule: "required" }] : [];
}

/** The errors of a change of an endpoint that its schema cannot find. */
export function changeErrors(body: unknown, allowPrivateNetworks: boolean): ValidationError[] {
  const { kind } = (body ?? {}) as { kind?: unknown }; // As above.
  return [
    ...(kind == null ? [] : [{ pointer: "/kind", rule: "set_at_creation" } as const]),
    ...endpointErrors(body, allowPrivateNetworks),
  ];
}

/**
 * The errors of the mode of a new endpoint: a request means the same with every key
 * (docs/design/isolation-and-limits.md, "Live and test keys").
 */
export function modeErrors(body: unknown, { testOnly }: KeyAccess): ValidationError[] {
  const { mode = "live" } = (body ?? {}) as { mode?: unknown }; // As above.
  return testOnly && mode === "live" ? [{ pointer: "/mode", rule: "test_key", value: "test" }] : [];
}

/** The errors of the start of a recovery. */
export function sinceErrors(body: unknown, now: Date): ValidationError[] {
  const { since } = (body ?? {}) as { since?: unknown }; // As above.
  if (typeof since !== "string") return [];
  const ageMs = now.getTime() - parseTime(since).getTime();
  if (ageMs >= 0 && ageMs <= EVENTS_KEPT_MS) return [];
  return [
    ageMs > EVENTS_KEPT_MS
      ? { pointer: "/since", rule: "max_age", days: EVENTS_KEPT_MS / DAY_MS }
      : { pointer: "/since", rule: "not_future" },
  ];
}

type UrlError = Extract<
  Violation,
  { rule: "public_address" | "usual_port" | "max_length" | "url_scheme" | "no_credentials" | "no_fragment" }
>;

const URL_LENGTH_MAX = 2_048;

const IPV6_GLOBAL_UNICAST = ipaddr.parseCIDR("2000::/3");

/** Looks public, but inside Azure it leads to services of the platform. */
const AZURE_PLATFORM = "168.63.129.16";

/**
 * True if an IP address, as text without brackets, is a global unicast address. All special-purpose blocks of the IANA
 * registries are rejected, including the few that are globally reachable, such as relays: no partner has a server there.
 * IPv6 addresses that contain an IPv4 address (mapped, compatible, NAT64, 6to4, Teredo) are all rejected, because a
 * gateway could unwrap a private one. Addresses with a zone are rejected as well.
 */
export function isPublicAddress(address: string): boolean {
  // The library also reads octal, hexadecimal and short forms, and zones. No connection is made to those.
  const version = address.includes("%") ? 0 : isIP(address);
  if (version === 0 || address === AZURE_PLATFORM) return false;
  const parsed = ipaddr.parse(address);
  if (parsed instanceof ipaddr.IPv6 && !parsed.match(IPV6_GLOBAL_UNICAST)) return false;
  return parsed.range() === "unicast";
}

/** Returns the host of a URL without brackets if it is an IP address, else null. */
export function literalAddress(hostname: string): string | null {
  const bare = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
  return isIP(bare) === 0 ? null : bare;
}

/**
 * Returns what is wrong with the URL of an endpoint, as a a rule. Null if nothing is. No name is looked up
 * (docs/design/signing.md, "Look-ups"): the response would show which names exist in our own network, and the addresses of a
 * name may change. They are checked at every connection.
 * @param allowPrivateNetworks lifts the need for https, for a public address and for a usual port, and nothing else
 */
export function endpointUrlError(text: string, allowPrivateNetworks: boolean): UrlError | null {
  const form = formError(text, allowPrivateNetworks);
  if (form !== null || allowPrivateNetworks) return form;
  const { hostname } = new URL(text);
  const literal = literalAddress(hostname);
  const isPublic = literal === null ? !isLocalName(hostname) : isPublicAddress(literal);
  if (!isPublic) return { rule: "public_address" };
  return isUsualPort(new URL(text).port) ? null : { rule: "usual_port" };
}

function formError(text: string, allowHttp: boolean): UrlError | null {
  if (text.length > URL_LENGTH_MAX) return { rule: "max_length", max: URL_LENGTH_MAX };
  const schemes = allowHttp ? /^https?:\/\//i : /^https:\/\//i;
  // A URL parser removes spaces and control characters, so the stored URL would differ from the one that is called.
  if (!schemes.test(text) || /[\s\p{Cc}]/u.test(text) || !text.isWellFormed() || !URL.canParse(text))
    return { rule: "url_scheme", schemes: allowHttp ? ["https", "http"] : ["https"] };
  const { username, password } = new URL(text);
  if (username !== "" || password !== "") return { rule: "no_credentials" };
  if (text.includes("#")) return { rule: "no_fragment" };
  return null;
}

/**
 * Ports below 1024 belong to other services, whose ports no partner should be able to test through ours
 * (docs/design/deliveries.md, "Shared sending").
 * @param port as the URL parser returns it: empty for 443
 */
const isUsualPort = (port: string): boolean => port === "" || Number(port) >= 1_024;

/**
 * Whether a name has a meaning only on this machine or in its network.
 * @param hostname as the URL parser returns it, in lower case
 */
export function isLocalName(hostname: string): boolean {
  const name = hostname.replace(/\.+$/, "");
  return !name.includes(".") || /\.(localhost|local|internal)$/.test(name);
}
