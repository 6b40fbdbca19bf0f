import { Skeleton, Stack, TextInput } from "@mantine/core";
import { IconCashBanknote } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../api/client.ts";
import { useHasRole } from "../../api/me.ts";
import type { Merchant } from "../../api/schema.d.ts";
import { typedAmount } from "../../text/amount.ts";
import { formatLocale } from "../../text/format.ts";
import { Facts } from "../../ui/facts.tsx";
import { ConfirmAction } from "../../ui/form/confirm-action.tsx";
import { filled } from "../../ui/form/use-api-form.ts";
import { Money } from "../../ui/money.tsx";
import { ProblemMessage } from "../../ui/problem-message.tsx";
import { Section } from "../../ui/section.tsx";
import { accountQuery } from "./queries.ts";

/** The merchant's debt, and how much more it may owe. */
export function AccountSection({ merchant }: { merchant: Merchant }) {
  const { t } = useTranslation();
  const { data, error, refetch } = useQuery(accountQuery(merchant.id));
  const isOperator = useHasRole("operator");
  return (
    <Section title={t("money.account")} actions={isOperator && <RecordPayment merchant={merchant} />}>
      {error !== null && <ProblemMessage error={error} retry={() => void refetch()} />}
      {data === undefined ? (
        error === null && <Skeleton height={70} role="status" aria-label={t("ui.loading")} />
      ) : (
        <Facts
          of={[
            [t("money.balance"), <Money key="balance" of={data.balance} />],
            [
              t("money.creditLimit"),
              data.creditLimit === null ? (
                t("merchants.unlimited")
              ) : (
                <Money key="limit" of={data.creditLimit} />
              ),
            ],
            [
              t("money.available"),
              data.available === null ? t("merchants.unlimited") : <Money key="free" of={data.available} />,
            ],
          ]}
        />
      )}
    </Section>
  );
}

/** Money that arrived at the bank. The service records a reference once, so that a second click books nothing. */
function RecordPayment({ merchant: { id, currency, name } }: { merchant: Merchant }) {
  const { t } = useTranslation();
  return (
    <ConfirmAction
      label={t("money.record")}
      effect={t("money.recordEffect", { name })}
      done={t("money.recorded")}
      icon={<IconCashBanknote size={14} />}
      isPrimary
      initialValues={{ amount: "", reference: "", note: "" }}
      validate={({ amount, reference }) => ({
        ...(amount.trim() === "" && { amount: t("ui.required") }),
        ...(reference.trim() === "" && { reference: t("ui.required") }),
      })}
      fields={(form) => (
        <Stack gap="sm">
          <TextInput
            label={t("money.amount")}
            description={t("money.amountHelp")}
            inputMode="decimal"
            required
            data-autofocus
            rightSection={currency}
            rightSectionWidth={52}
            {...form.getInputProps("amount")}
            error={form.errors["amount"] ?? form.errors["amount.amount"]}
          />
          <TextInput
            label={t("money.reference")}
            description={t("money.referenceHelp")}
            required
            {...form.getInputProps("reference")}
          />
          <TextInput label={t("money.note")} {...form.getInputProps("note")} />
        </Stack>
      )}
      run={({ amount, reference, note }) =>
        dataOf(
          api.POST("/api/merchants/{id}/account/payments", {
            params: { path: { id } },
            body: {
              amount: { amount: typedAmount(amount, formatLocale()), currency },
              reference: reference.trim(),
              ...filled({ note }),
            },
          }),
        )
      }
    />
  );
}
