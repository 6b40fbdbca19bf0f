import { NumberInput, Stack, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../api/client.ts";
import { useHasRole } from "../../api/me.ts";
import type { Connection } from "../../api/schema.d.ts";
import { fieldAmount, typedAmount } from "../../text/amount.ts";
import { formatLocale, formatNumber } from "../../text/format.ts";
import { Facts } from "../../ui/facts.tsx";
import { ConfirmAction } from "../../ui/form/confirm-action.tsx";
import { Money } from "../../ui/money.tsx";
import { Section } from "../../ui/section.tsx";
import { merchantQuery } from "../merchants/queries.ts";

type Props = { readonly connection: Connection; readonly policy: NonNullable<Connection["reviewPolicy"]> };

/** Which orders wait for a review. */
export function ReviewPolicySection({ connection, policy }: Props) {
  const { t } = useTranslation();
  const mayChange = useHasRole("operator", "merchant");
  return (
    <Section
      title={t("reviewPolicy.title")}
      actions={mayChange && <ChangeReviewPolicy connection={connection} policy={policy} />}
    >
      <Text size="sm">{t("reviewPolicy.about")}</Text>
      <PolicyFacts policy={policy} />
    </Section>
  );
}

function PolicyFacts({ policy: { maxQuantity, maxOrderValue, countries } }: Pick<Props, "policy">) {
  const { t } = useTranslation();
  return (
    <Facts
      of={[
        [
          t("reviewPolicy.maxQuantity"),
          maxQuantity === null ? t("reviewPolicy.noLimit") : formatNumber(maxQuantity),
        ],
        [
          t("reviewPolicy.maxOrderValue"),
          maxOrderValue === null ? t("reviewPolicy.noLimit") : <Money key="value" of={maxOrderValue} />,
        ],
        [
          t("reviewPolicy.countries"),
          countries === null ? t("reviewPolicy.allCountries") : countries.join(", "),
        ],
      ]}
    />
  );
}

type Values = { maxQuantity: number | string; maxOrderValue: string; countries: string };

/** An empty field is no limit: the policy replaces the one of before. */
function ChangeReviewPolicy({ connection: { id, merchantId }, policy }: Props) {
  const { t } = useTranslation();
  const currency = useQuery(merchantQuery(merchantId)).data?.currency;
  const { maxQuantity, maxOrderValue, countries } = policy;
  return (
    <ConfirmAction<Values>
      label={t("reviewPolicy.change")}
      effect={t("reviewPolicy.changeEffect")}
      done={t("reviewPolicy.changed")}
      initialValues={{
        maxQuantity: maxQuantity ?? "",
        maxOrderValue: maxOrderValue === null ? "" : fieldAmount(maxOrderValue.amount, formatLocale()),
        countries: countries?.join(", ") ?? "",
      }}
      version={policy.version}
      present={<PolicyFacts policy={policy} />}
      fields={(form) => (
        <Stack gap="sm">
          <NumberInput
            label={t("reviewPolicy.maxQuantity")}
            description={t("reviewPolicy.emptyHelp")}
            min={1}
            allowDecimal={false}
            data-autofocus
            {...form.getInputProps("maxQuantity")}
            error={form.errors["reviewPolicy.maxQuantity"]}
          />
          <TextInput
            label={`${t("reviewPolicy.maxOrderValue")} (${currency ?? "…"})`}
            inputMode="decimal"
            {...form.getInputProps("maxOrderValue")}
            error={
              form.errors["reviewPolicy.maxOrderValue"] ?? form.errors["reviewPolicy.maxOrderValue.amount"]
            }
          />
          <TextInput
            label={t("reviewPolicy.countries")}
            description={t("reviewPolicy.countriesHelp")}
            placeholder="DE, AT, CH"
            {...form.getInputProps("countries")}
            error={firstErrorOf(form.errors, "reviewPolicy.countries")}
          />
        </Stack>
      )}
      run={(values, { version }) =>
        dataOf(
          api.PATCH("/api/connections/{id}", {
            params: { path: { id } },
            body: { reviewPolicy: { ...policyOf(values, currency ?? ""), expectedVersion: version } },
          }),
        )
      }
    />
  );
}

const policyOf = ({ maxQuantity, maxOrderValue, countries }: Values, currency: string) => ({
  maxQuantity: maxQuantity === "" ? null : Number(maxQuantity),
  maxOrderValue:
    maxOrderValue.trim() === "" ? null : { amount: typedAmount(maxOrderValue, formatLocale()), currency },
  countries:
    countries.trim() === ""
      ? null
      : countries
          .toUpperCase()
          .split(/[\s,;]+/)
          .filter(Boolean),
});

/** A list is one field here: its first error is shown. */
const firstErrorOf = (errors: Readonly<Record<string, React.ReactNode>>, field: string): React.ReactNode =>
  Object.entries(errors).find(([name]) => name === field || name.startsWith(`${field}.`))?.[1];
