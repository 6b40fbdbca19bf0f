import IconHandStop from "icon:hand-stop";
import { useTranslation } from "react-i18next";
import type {
  CertificationResult,
  CertificationStatus,
  ChargeStatus,
  CheckStatus,
  DeliveryStatus,
  OrderStatus,
  PersonState,
  ProcessStatus,
  ProductStatus,
  ShipmentStatus,
  WebhookEndpointHealth,
  WebhookEndpointStatus,
} from "../api/schema.d.ts";
import classes from "./status-badge.module.css";

export type Tone = "neutral" | "info" | "success" | "warning" | "danger";

/** All states of all things. A new state of the API does not compile until it has a tone here and a text. */
const TONES = {
  order: {
    NEW: "info",
    PROCESSING: "warning",
    ACCEPTED: "info",
    IN_PROGRESS: "info",
    COMPLETED: "success",
    CANCELED: "neutral",
    RETURNED: "neutral",
  } satisfies Record<OrderStatus, Tone>,
  shipment: {
    pending: "neutral",
    shipped: "info",
    delivered: "success",
    returned: "warning",
    voided: "neutral",
  } satisfies Record<ShipmentStatus, Tone>,
  charge: {
    pending: "neutral",
    succeeded: "success",
    failed: "danger",
    canceled: "neutral",
  } satisfies Record<ChargeStatus, Tone>,
  delivery: {
    pending: "neutral",
    succeeded: "success",
    failed: "danger",
  } satisfies Record<DeliveryStatus, Tone>,
  endpoint: {
    active: "success",
    paused: "warning",
  } satisfies Record<WebhookEndpointStatus, Tone>,
  health: {
    healthy: "success",
    failing: "danger",
    backing_off: "warning",
    paused: "neutral",
  } satisfies Record<WebhookEndpointHealth, Tone>,
  product: {
    active: "success",
    discontinued: "neutral",
  } satisfies Record<ProductStatus, Tone>,
  person: { invited: "info", active: "success", disabled: "neutral" } satisfies Record<PersonState, Tone>,
  check: { ok: "success", warn: "warning", fail: "danger" } satisfies Record<CheckStatus, Tone>,
  certification: {
    running: "info",
    passed: "success",
    failed: "danger",
    canceled: "neutral",
  } satisfies Record<CertificationStatus, Tone>,
  certificationCheck: {
    pending: "neutral",
    passed: "success",
    failed: "danger",
    advice: "warning",
    skipped: "neutral",
  } satisfies Record<CertificationResult, Tone>,
  process: { running: "success", missing: "danger", stopped: "neutral" } satisfies Record<
    ProcessStatus,
    Tone
  >,
} as const;

/** For what is no pill, such as a part of a chart. */
export const toneOfOrder = (status: OrderStatus): Tone => TONES.order[status];

type StatusKind = keyof typeof TONES;
type StatusOf<Kind extends StatusKind> = keyof (typeof TONES)[Kind] & string;

type Props = { [Kind in StatusKind]: { readonly of: Kind; readonly status: StatusOf<Kind> } }[StatusKind];

/** The state of something in words, with a tone. */
export function StatusBadge({ of, status }: Props) {
  const { t } = useTranslation();
  const tones: Readonly<Record<string, Tone>> = TONES[of];
  return <Pill tone={tones[status] ?? "neutral"}>{t(`status.${of}.${status}` as "status.order.NEW")}</Pill>;
}

/** Longer ones, such as reasons that people write, may be broken. */
const SHORT = 30;

type PillProps = {
  readonly tone?: Tone;
  /** What pointing at it adds. */
  readonly title?: string;
  readonly children: string;
};

/** A short text with a tone. The text says all: the color only repeats it. */
export const Pill = ({ tone = "neutral", title, children }: PillProps) => (
  <span
    className={classes["pill"]}
    title={title}
    data-tone={tone}
    data-long={children.length > SHORT || undefined}
  >
    {children}
  </span>
);

/** That an order is on hold, where there is no room for a pill. */
export function HeldMark({ title }: { readonly title?: string }) {
  const { t } = useTranslation();
  return (
    <span className={classes["held"]} title={title ?? t("orders.onHold")}>
      <IconHandStop size={16} role="img" aria-label={t("orders.onHold")} />
    </span>
  );
}
