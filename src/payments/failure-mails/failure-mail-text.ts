import type {
  FailureMailKind,
  MailedFailure,
  Resolution,
} from "../../ledger/failures/payment-failures-sql.ts";
import { oneLine, subjectWith } from "../../mail/one-line.ts";
import { toTypeId } from "../../platform/ids.ts";
import { counted } from "../../platform/wire/text.ts";

/** What a mail about failed payments reports: how many, and the first of them. */
type Reported = { readonly count: number; readonly first: readonly MailedFailure[] };

/** The mail that reports failed payments to the merchant, or that they are resolved. */
export function failureMail(
  kind: FailureMailKind,
  { count, first }: Reported,
): { subject: string; body: string } {
  const [only] = first;
  const [begin, end] = SUBJECTS[kind];
  const subject =
    count === 1 && only !== undefined
      ? subjectWith(`${begin} order `, nameOf(only), end)
      : `${begin} ${counted(count, "order")}${end}`;
  const more = count - first.length;
  const lines = [
    ...first.map((failure) => `  ${lineOf(kind, failure)}`),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ];
  const paragraphs = [`${INTRODUCTIONS[kind]}\n\n${lines.join("\n")}`, ...REMEDIES[kind]];
  return { subject, body: `${paragraphs.join("\n\n")}\n` };
}

const SUBJECTS: Record<FailureMailKind, readonly [string, string]> = {
  failure: ["Payment failed for", ""],
  resolution: ["Failed payment resolved for", ""],
};

const INTRODUCTIONS: Record<FailureMailKind, string> = {
  failure: "The charge for these orders was declined:",
  resolution: "These orders no longer owe a declined charge:",
};

const REMEDIES: Record<FailureMailKind, readonly string[]> = {
  failure: [
    "An order that has not shipped is on hold until it is paid, and the partner can cancel it. The charge is attempted again automatically.",
    "To release the orders earlier, pay your account, or ask the service for another payment method. You get one more mail when a failed payment is resolved, and none for further attempts.",
  ],
  resolution: [],
};

const RESOLUTIONS: Record<Resolution, string> = {
  paid: "paid",
  waived: "released without payment",
  canceled: "canceled, nothing is owed",
};

function lineOf(kind: FailureMailKind, failure: MailedFailure): string {
  const { orderId, externalOrderId, reason, resolution } = failure;
  const partnersId = externalOrderId === null ? "" : ` (${oneLine(externalOrderId)})`;
  const since = resolution === null ? "" : `, ${RESOLUTIONS[resolution]}`;
  const outcome = kind === "failure" ? `: ${oneLine(reason)}${since}` : `: ${since.slice(2)}`;
  return `${toTypeId("ord", orderId)}${partnersId}${outcome}`;
}

const nameOf = ({ orderId, externalOrderId }: MailedFailure): string =>
  externalOrderId ?? toTypeId("ord", orderId);
