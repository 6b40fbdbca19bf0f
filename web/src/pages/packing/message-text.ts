import { useTranslation } from "react-i18next";
import { ApiProblem } from "../../api/problem.ts";
import type { ScannedOrder } from "../../api/schema.d.ts";
import { formatNumber } from "../../text/format.ts";
import { useProblemText } from "../../ui/problem-message.tsx";
import type { FeedbackTone } from "../../ui/scan/feedback.tsx";
import { linesToPack } from "./packing.ts";
import type { Message } from "./use-station.ts";

type Said = { readonly tone: FeedbackTone; readonly text: string; readonly detail?: string };

const good = (text: string): Said => ({ tone: "good", text });
const warning = (text: string): Said => ({ tone: "warning", text });
const bad = (text: string): Said => ({ tone: "bad", text });

const nameOf = ({ externalOrderId, orderId }: { externalOrderId: string | null; orderId: string }) =>
  externalOrderId ?? orderId;

const requestIdOf = (error: unknown, label: string) =>
  error instanceof ApiProblem && error.requestId !== null ? { detail: `${label} ${error.requestId}` } : {};

/** What is said of a code that has no meaning in its step. */
const REJECTED_CODES = {
  "wrong-item": "station.wrongItem",
  "not-a-weight": "station.notAWeight",
  "code-in-place-of-weight": "station.codeInPlaceOfWeight",
  "not-a-carrier": "station.notACarrier",
  "not-tracking": "station.notTracking",
  "unknown-code": "station.unknownCode",
  "several-orders": "station.severalOrders",
} as const;

/** Why an order that was found cannot be packed. */
function useCannotShip(): (order: ScannedOrder) => Said {
  const { t } = useTranslation();
  return (order) => ({
    tone: "bad",
    text: t("station.cannotShip", { order: nameOf(order) }),
    detail: order.onHold
      ? t("station.isOnHold")
      : linesToPack(order).length === 0
        ? t("station.allShipped")
        : t("station.hasStatus", { status: t(`status.order.${order.status}`) }),
  });
}

/** What has changed of an order that is open. */
function useChanged(): (message: Extract<Message, { outcome: "changed" }>) => Said {
  const { t } = useTranslation();
  return ({ order, parts }) => {
    const named = { order: nameOf(order) };
    const goods = parts.includes("goods") && t("station.goodsChanged", named);
    const address = parts.includes("address") && t("station.addressChanged", named);
    return bad([goods, address, !goods && t("station.again")].filter(Boolean).join(" "));
  };
}

/** What the station says, in the person's language. */
export function useMessageText(): (message: Message) => Said {
  const { t } = useTranslation();
  const problemText = useProblemText();
  const cannotShip = useCannotShip();
  const changed = useChanged();
  return (message) => {
    switch (message.outcome) {
      case "opened": {
        const { order } = message;
        const detail = order.pickList && t("station.takenBy", { name: order.pickList.takenBy });
        return {
          tone: "good",
          text: t("station.opened", { order: nameOf(order) }),
          ...(detail && { detail }),
        };
      }
      case "counted": {
        const { name, count, of } = message;
        return good(t("station.counted", { name, count: formatNumber(count), of: formatNumber(of) }));
      }
      case "all-counted":
        return good(t("station.allCounted"));
      case "weighed":
        return good(t("station.weighed"));
      case "carrier-chosen":
        return good(t("station.carrierChosen"));
      case "empty":
      case "ship":
        return good("");
      case "light":
        return warning(t("station.light", { expected: formatNumber(message.expectedGrams) }));
      case "wrong-item":
      case "not-a-weight":
      case "code-in-place-of-weight":
      case "not-a-carrier":
      case "not-tracking":
      case "unknown-code":
      case "several-orders":
        return bad(t(REJECTED_CODES[message.outcome], { code: message.code }));
      case "too-many":
        return bad(t("station.tooMany", { name: message.name, of: formatNumber(message.of) }));
      case "order-is-open":
        return bad(t("station.orderIsOpen"));
      case "cannot-ship":
        return cannotShip(message.order);
      case "changed":
        return changed(message);
      case "shipped":
        return good(t("station.shipped", { order: nameOf(message.order) }));
      case "put-aside":
        return warning(t("station.isAside"));
      case "failed":
        return {
          tone: "bad",
          text: `${problemText(message.error)} ${t("station.again")}`,
          ...requestIdOf(message.error, t("problem.requestId")),
        };
      default:
        return message satisfies never;
    }
  };
}
