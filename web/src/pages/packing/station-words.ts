import { useTranslation } from "react-i18next";
import { ApiProblem } from "../../api/problem.ts";
import type { ScannedOrder } from "../../api/schema.d.ts";
import { explained } from "../../text/explanations.ts";
import { formatNumber, formatWeight } from "../../text/format.ts";
import { useProblemText } from "../../ui/problem-message.tsx";
import type { FeedbackTone } from "../../ui/scan/feedback.tsx";
import { useCodeText } from "../../ui/scan/look-up.ts";
import { type Answer, linesToPack, type OpenPacking, openUnits, type Question } from "./packing.ts";
import type { RestOutcome, StockOutcome } from "./ship-parcel.ts";
import type { Message, Station } from "./use-station.ts";

/** What the table says, asks and answers, in the person's language. */

export const nameOf = ({ externalOrderId, orderId }: Pick<ScannedOrder, "externalOrderId" | "orderId">) =>
  externalOrderId ?? orderId;

type Said = {
  readonly tone: FeedbackTone;
  readonly text: string;
  readonly detail?: string;
  /** What the person can do about it at once. */
  readonly action?: { readonly label: string; run(station: Station): void };
};

const good = (text: string): Said => ({ tone: "good", text });
const warning = (text: string): Said => ({ tone: "warning", text });
const bad = (text: string): Said => ({ tone: "bad", text });
const withDetail = (said: Said, ...details: readonly (string | false | null)[]): Said => {
  const detail = details.filter(Boolean).join(" ");
  return detail === "" ? said : { ...said, detail };
};

/** What is said of a code that has no meaning in its step. */
const REJECTED_CODES = {
  "wrong-item": "station.wrongItem",
  "not-a-weight": "station.notAWeight",
  "code-in-place-of-weight": "station.codeInPlaceOfWeight",
  "not-a-carrier": "station.notACarrier",
  "not-tracking": "station.notTracking",
  "order-is-open": "station.orderIsOpen",
  "unknown-code": "station.unknownCode",
  "several-orders": "station.severalOrders",
  "not-in-step": "station.notInStep",
  "not-an-answer": "station.notAnAnswer",
  "no-order-is-open": "station.noOrderIsOpen",
} as const;

/** What is said without any name or number. */
const PLAIN = {
  "all-counted": ["good", "station.allCounted"],
  "parcel-closed": ["good", "station.parcelClosed"],
  weighed: ["good", "station.weighed"],
  "carrier-chosen": ["good", "station.carrierChosen"],
  asked: ["warning", "station.asked"],
  "carrier-asked": ["warning", "station.typeCarrier"],
  "not-asked": ["good", "station.undone"],
  "marked-missing": ["warning", "station.markedMissing"],
  "this-order-is-open": ["warning", "station.thisOrderIsOpen"],
  "scan-to-take-out": ["warning", "station.scanToTakeOut"],
  "scan-damaged": ["warning", "station.scanDamaged"],
  "nothing-in-box": ["bad", "station.nothingInBox"],
  undone: ["good", "station.undone"],
  "nothing-to-undo": ["bad", "station.nothingToUndo"],
} as const;

export function useMessageText(): (message: Message) => Said {
  const { t } = useTranslation();
  const problemText = useProblemText();
  const codeText = useCodeText();
  const cannotShip = useCannotShip();
  const restText = useRestText();
  return (message) => {
    switch (message.outcome) {
      case "empty":
        return good("");
      case "all-counted":
      case "parcel-closed":
      case "weighed":
      case "carrier-chosen":
      case "asked":
      case "carrier-asked":
      case "not-asked":
      case "marked-missing":
      case "this-order-is-open":
      case "scan-to-take-out":
      case "scan-damaged":
      case "nothing-in-box":
      case "undone":
      case "nothing-to-undo": {
        const [tone, text] = PLAIN[message.outcome];
        return { tone, text: t(text) };
      }
      case "opened": {
        const { order } = message;
        return withDetail(
          good(t("station.opened", { order: nameOf(order) })),
          order.pickList && t("station.takenBy", { name: order.pickList.takenBy }),
          order.putAside &&
            t("station.wasAside", {
              reason: t(`station.aside.${order.putAside.reason}`),
              name: order.putAside.by,
            }),
        );
      }
      case "continued":
        return good(t("station.continued", { order: nameOf(message.order), count: message.units }));
      case "counted":
      case "taken-out": {
        const { name, count, of, outcome } = message;
        const counted = { name, count: formatNumber(count), of: formatNumber(of) };
        return outcome === "counted"
          ? good(t("station.counted", counted))
          : warning(t("station.takenOut", counted));
      }
      case "light":
        return warning(t("station.light", { expected: formatWeight(message.expectedGrams) }));
      case "heavy":
        return warning(t("station.heavy", { expected: formatWeight(message.expectedGrams) }));
      case "wrong-item":
      case "not-a-weight":
      case "code-in-place-of-weight":
      case "not-a-carrier":
      case "not-tracking":
      case "order-is-open":
      case "unknown-code":
      case "several-orders":
      case "not-in-step":
      case "not-an-answer":
      case "no-order-is-open":
        return withDetail(
          bad(t(REJECTED_CODES[message.outcome], { code: message.code })),
          "isOtherLayout" in message && message.isOtherLayout === true && t("scan.layout"),
        );
      case "pick-list": {
        const { takenBy, orders } = message;
        return good(t("station.pickListOf", { name: takenBy, count: orders }));
      }
      case "not-an-order":
        return bad(codeText(message.scan, message.found));
      case "too-many":
        return bad(t("station.tooMany", { name: message.name, of: formatNumber(message.of) }));
      case "none-in-box":
        return bad(t("station.noneInBox", { name: message.name, of: formatNumber(message.of) }));
      case "open-elsewhere": {
        const { order } = message;
        const run = (station: Station) => station.openHere(order.orderId);
        return {
          ...bad(t("station.openElsewhere", { order: nameOf(order) })),
          action: { label: t("station.openHere"), run },
        };
      }
      case "taken-elsewhere":
        return warning(t("station.takenElsewhere", { order: nameOf(message.order) }));
      case "cannot-ship":
        return cannotShip(message.order);
      case "changed": {
        const { order, parts } = message;
        const named = { order: nameOf(order) };
        const goods = parts.includes("goods") && t("station.goodsChanged", named);
        const address = parts.includes("address") && t("station.addressChanged", named);
        return bad([goods, address, !goods && t("station.again")].filter(Boolean).join(" "));
      }
      case "shipped":
      case "parcel-shipped": {
        const { order, shipmentId, rest } = message;
        const text =
          message.outcome === "shipped"
            ? t("station.shipped", { order: nameOf(order) })
            : t("station.parcelShipped", { order: nameOf(order) });
        const run = (station: Station) => station.print(order.orderId, shipmentId);
        const action = shipmentId === null ? {} : { action: { label: t("station.printSlips"), run } };
        if (rest === null) return { ...good(text), ...action };
        return { ...withDetail(warning(text), restText(rest)), ...action };
      }
      case "rest-held":
        return warning(`${nameOf(message.order)}: ${restText(message.rest)}`);
      case "is-aside": {
        const { order, reason } = message;
        return warning(t("station.isAside", { order: nameOf(order), reason: t(`station.aside.${reason}`) }));
      }
      case "recorded-damaged":
        return withDetail(
          warning(t("station.recordedDamaged", { name: message.name })),
          message.stock !== "adjusted" && t(`station.stock.${message.stock}`),
        );
      case "rejected":
        return bad(`${message.code} ${explained(message.error)}.`);
      case "failed": {
        const { error } = message;
        const id = error instanceof ApiProblem ? error.requestId : null;
        return withDetail(
          bad(`${problemText(error)} ${t("station.again")}`),
          id !== null && `${t("problem.requestId")} ${id}`,
        );
      }
      default:
        return message satisfies never;
    }
  };
}

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

function useRestText(): (rest: RestOutcome) => string {
  const { t } = useTranslation();
  const stockText = (stock: StockOutcome) => (stock === "none" ? "" : ` ${t(`station.stock.${stock}`)}`);
  return ({ units, is, stock }) =>
    t(`station.rest.${is}`, { count: units }) + (is === "failed" ? "" : stockText(stock));
}

export function useQuestionText({ order, ...packing }: OpenPacking): (question: Question) => string {
  const { t } = useTranslation();
  return (question) => {
    switch (question.about) {
      case "line":
        return question.of === "missing" ? t("station.whichIsMissing") : t("station.whichIsDamaged");
      case "missing":
      case "damaged": {
        const line = linesToPack(order).find(({ id }) => id === question.lineId);
        const product = line?.name ?? "";
        if (question.about === "damaged") return t("station.whereWasDamaged", { product });
        const count = line === undefined ? 0 : openUnits({ order, ...packing }, line);
        return t("station.areMissing", { product, count });
      }
      case "aside":
        return t("station.whyAside");
      case "tracking":
        return t("station.trackingUsed", {
          code: question.trackingNumber,
          order: question.order,
        });
      case "carrier":
        return t("station.otherCarrier");
      default:
        return question satisfies never;
    }
  };
}

export function useAnswerText({ order }: OpenPacking): (answer: Answer) => string {
  const { t } = useTranslation();
  return (answer) => {
    switch (answer.is) {
      case "line":
        return linesToPack(order).find(({ id }) => id === answer.lineId)?.name ?? "";
      case "hold":
        return t("station.holdRest");
      case "cancel":
        return t("station.cancelRest");
      case "in-box":
        return t("station.wasInBox");
      case "not-in-box":
        return t("station.wasNotInBox");
      case "aside":
        return t(`station.aside.${answer.reason}`);
      case "ship":
        return t("station.shipAnyway");
      default:
        return answer satisfies never;
    }
  };
}
