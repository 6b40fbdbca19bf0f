import { Grid, Group, Stack, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../api/client.ts";
import { useHasRole } from "../../api/me.ts";
import type { Account, BankDetails, Merchant } from "../../api/schema.d.ts";
import { formatMoney } from "../../text/format.ts";
import { CopiedText } from "../../ui/copy-button.tsx";
import { Facts } from "../../ui/facts.tsx";
import { ConfirmAction } from "../../ui/form/confirm-action.tsx";
import { filled } from "../../ui/form/use-api-form.ts";
import { Section } from "../../ui/page.tsx";
import { RecordPayment, RetryAll } from "./payment-actions.tsx";
import { accountQuery } from "./queries.ts";

/** What the merchant owes in all, and how it pays that: the first thing that it looks for. */
export function PaySection({ merchant }: { merchant: Merchant }) {
  const { t } = useTranslation();
  const { data: account } = useQuery(accountQuery(merchant.id)); // The section below shows its error.
  const isOperator = useHasRole("operator");
  const mayRetry = useHasRole("operator", "merchant");
  if (account === undefined) return null;
  const { gateway, owed, declined, bankDetails } = account;
  const byAccount = gateway === "account";
  return (
    <Section
      title={t("money.owed")}
      actions={
        <Group gap={6}>
          {isOperator && byAccount && <RecordPayment merchant={merchant} isPrimary />}
          {isOperator && byAccount && <SetBankDetails currency={merchant.currency} details={bankDetails} />}
          {isOperator && byAccount && bankDetails !== null && (
            <RemoveBankDetails currency={merchant.currency} />
          )}
          {mayRetry && declined.count > 0 && <RetryAll merchantId={merchant.id} count={declined.count} />}
        </Group>
      }
    >
      <Grid>
        <Grid.Col span={{ base: 12, md: 5 }}>
          <Stack gap={4}>
            <Text fz={24} fw={600} lh={1.35} style={{ fontVariantNumeric: "tabular-nums" }}>
              {formatMoney(owed)}
            </Text>
            <Declined account={account} />
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 7 }}>
          {byAccount ? (
            <BankTransfer account={account} />
          ) : (
            <Text size="sm">{t(isOperator ? "money.stripeForOperator" : "money.stripeForMerchant")}</Text>
          )}
        </Grid.Col>
      </Grid>
    </Section>
  );
}

function Declined({ account: { declined } }: { account: Account }) {
  const { t } = useTranslation();
  if (declined.count === 0) return null;
  const isLacking = !/^[0.]+$/.test(declined.toPay.amount);
  return (
    <Text size="sm">
      {t("money.declinedSum", { count: declined.count, amount: formatMoney(declined.amount) })}
      {isLacking && ` ${t("money.toPay", { amount: formatMoney(declined.toPay) })}`}
    </Text>
  );
}

/** Where to, and with which reference. */
function BankTransfer({ account: { bankDetails, paymentReference } }: { account: Account }) {
  const { t } = useTranslation();
  const isOperator = useHasRole("operator");
  if (bankDetails === null)
    return <Text size="sm">{t(isOperator ? "money.noBankForOperator" : "money.noBank")}</Text>;
  const { accountHolder, accountNumber, bankCode, bankName, note } = bankDetails;
  return (
    <Facts
      of={[
        [t("money.accountHolder"), accountHolder],
        [
          t("money.accountNumber"),
          <CopiedText key="number" value={accountNumber} of={t("money.accountNumber")} />,
        ],
        ...(bankCode === null ? [] : [[t("money.bankCode"), bankCode] as const]),
        ...(bankName === null ? [] : [[t("money.bankName"), bankName] as const]),
        [
          t("money.paymentReference"),
          <CopiedText key="reference" value={paymentReference} of={t("money.paymentReference")} />,
        ],
        ...(note === null ? [] : [[t("money.note"), note] as const]),
      ]}
    />
  );
}

const FIELDS = ["accountHolder", "accountNumber", "bankCode", "bankName", "note"] as const;
const REQUIRED: readonly string[] = ["accountHolder", "accountNumber"];
const LABELS = {
  accountHolder: "money.accountHolder",
  accountNumber: "money.accountNumber",
  bankCode: "money.bankCode",
  bankName: "money.bankName",
  note: "money.note",
} as const satisfies Record<(typeof FIELDS)[number], string>;

function RemoveBankDetails({ currency }: { currency: string }) {
  const { t } = useTranslation();
  return (
    <ConfirmAction
      label={t("money.removeBank")}
      effect={t("money.removeBankEffect", { currency })}
      done={t("money.bankRemoved")}
      isDanger
      run={() => dataOf(api.DELETE("/api/bank-details/{currency}", { params: { path: { currency } } }))}
    />
  );
}

type SetProps = { readonly currency: string; readonly details: BankDetails | null };

/** The operator's bank account for all merchants of a currency. */
function SetBankDetails({ currency, details }: SetProps) {
  const { t } = useTranslation();
  return (
    <ConfirmAction<Record<(typeof FIELDS)[number], string>>
      label={t("money.setBank")}
      effect={t("money.setBankEffect", { currency })}
      done={t("money.bankSet")}
      initialValues={{
        accountHolder: details?.accountHolder ?? "",
        accountNumber: details?.accountNumber ?? "",
        bankCode: details?.bankCode ?? "",
        bankName: details?.bankName ?? "",
        note: details?.note ?? "",
      }}
      validate={(values) =>
        Object.fromEntries(
          FIELDS.filter((field) => REQUIRED.includes(field) && values[field].trim() === "").map((field) => [
            field,
            t("ui.required"),
          ]),
        )
      }
      fields={(form) => (
        <Stack gap="sm">
          {FIELDS.map((field) => (
            <TextInput
              key={field}
              label={t(LABELS[field])}
              maxLength={255}
              required={REQUIRED.includes(field)}
              {...(field === FIELDS[0] && { "data-autofocus": true })}
              {...form.getInputProps(field)}
            />
          ))}
        </Stack>
      )}
      run={({ accountHolder, accountNumber, ...optional }) =>
        dataOf(
          api.PUT("/api/bank-details/{currency}", {
            params: { path: { currency } },
            body: {
              accountHolder: accountHolder.trim(),
              accountNumber: accountNumber.trim(),
              ...filled(optional),
            },
          }),
        )
      }
    />
  );
}
