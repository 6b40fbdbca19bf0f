import IconPlus from "icon:plus";
import IconTrash from "icon:trash";
import {
  ActionIcon,
  Button,
  Group,
  NumberInput,
  SegmentedControl,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
} from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../api/client.ts";
import { useHasRole } from "../../api/me.ts";
import { newReference } from "../../api/reference.ts";
import type { Facility, FacilityAddressRequest, Rate, Rates } from "../../api/schema.d.ts";
import { paths } from "../../paths.ts";
import { fieldAmount, typedAmount } from "../../text/amount.ts";
import { countryName, formatLocale, formatWeight } from "../../text/format.ts";
import { SenderLines } from "../../ui/address.tsx";
import { ConfirmAction } from "../../ui/form/confirm-action.tsx";
import { Conflict } from "../../ui/form/conflict.tsx";
import { filled, useApiForm } from "../../ui/form/use-api-form.ts";
import { DataTable } from "../../ui/list/data-table.tsx";
import { Money } from "../../ui/money.tsx";
import { Crumbs, Page, Section } from "../../ui/page.tsx";
import { ProblemMessage } from "../../ui/problem-message.tsx";
import { Pill } from "../../ui/status-badge.tsx";
import { FacilityTabs } from "../thing-tabs.tsx";
import { EndpointsSection } from "../webhooks/endpoints/endpoints-section.tsx";
import { facilityQuery, ratesQuery } from "./queries.ts";
import { useStockScans } from "./stock/use-product-scans.ts";

const route = getRouteApi("/signed-in/facilities/$facilityId");

export function FacilityPage() {
  const { t } = useTranslation();
  const { facilityId } = route.useParams();
  const { data: facility } = useSuspenseQuery(facilityQuery(facilityId));
  const mayChange = useHasRole("operator", "warehouse");
  useStockScans(facilityId);
  return (
    <Page
      title={facility.name}
      crumbs={<Crumbs of={[[t("facilities.title"), paths.facilities()]]} />}
      beside={
        facility.closedAt === null ? (
          <Pill tone="success">{t("facilities.open")}</Pill>
        ) : (
          <Pill>{t("facilities.closed")}</Pill>
        )
      }
      about={countryName(facility.countryCode)}
      tabs={<FacilityTabs facilityId={facilityId} />}
      actions={
        mayChange && (
          <>
            <Edit facility={facility} />
            <OpenOrClose facility={facility} />
          </>
        )
      }
    >
      <Section title={t("facilities.address")}>
        {facility.address === null ? (
          <Text size="sm" c="dimmed">
            {t("facilities.noAddress")}
          </Text>
        ) : (
          <address style={{ fontStyle: "normal" }}>
            <SenderLines name={facility.name} countryCode={facility.countryCode} address={facility.address} />
          </address>
        )}
      </Section>
      <EndpointsSection ownerId={facilityId} />
      <RatesSection facilityId={facilityId} />
    </Page>
  );
}

type Props = { readonly facility: Facility };

const ADDRESS_FIELDS = [
  "company",
  "address1",
  "address2",
  "zip",
  "city",
  "stateCode",
  "phone",
  "email",
] as const;

const addressValues = ({ address }: Facility) =>
  Object.fromEntries(ADDRESS_FIELDS.map((field) => [field, address?.[field] ?? ""]));

/** The name, and the address as a whole. Without any field, the facility has no address. */
function Edit({ facility }: Props) {
  const { t } = useTranslation();
  return (
    <ConfirmAction
      label={t("facilities.edit")}
      effect={t("facilities.editEffect")}
      done={t("facilities.edited")}
      initialValues={{ name: facility.name, address: addressValues(facility) }}
      fields={(form) => (
        <Stack gap="sm">
          <TextInput
            label={t("facilities.name")}
            maxLength={255}
            required
            data-autofocus
            {...form.getInputProps("name")}
          />
          <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
            {ADDRESS_FIELDS.map((field) => (
              <TextInput
                key={field}
                label={t(`address.${field}`)}
                maxLength={255}
                {...form.getInputProps(`address.${field}`)}
              />
            ))}
          </SimpleGrid>
        </Stack>
      )}
      run={(_, { changed: { name, address } }) => {
        const given = filled(address ?? {});
        const body = {
          ...(name !== undefined && { name }),
          // Fields that are missing are for the service to name.
          ...(address !== undefined && {
            address: Object.keys(given).length === 0 ? null : (given as FacilityAddressRequest),
          }),
        };
        return dataOf(api.PATCH("/api/facilities/{id}", { params: { path: { id: facility.id } }, body }));
      }}
    />
  );
}

function OpenOrClose({ facility: { id, closedAt } }: Props) {
  const { t } = useTranslation();
  const params = { params: { path: { id } } };
  return closedAt === null ? (
    <ConfirmAction
      label={t("facilities.close")}
      effect={t("facilities.closeEffect")}
      done={t("facilities.isClosed")}
      isDanger
      run={() => dataOf(api.POST("/api/facilities/{id}/close", params))}
    />
  ) : (
    <ConfirmAction
      label={t("facilities.reopen")}
      effect={t("facilities.reopenEffect")}
      done={t("facilities.isOpen")}
      run={() => dataOf(api.POST("/api/facilities/{id}/open", params))}
    />
  );
}

type RatesSectionProps = { readonly facilityId: string };

/** What shipping from a facility costs, by country and weight. */
function RatesSection({ facilityId }: RatesSectionProps) {
  const { t } = useTranslation();
  const [isEdited, setIsEdited] = useState(false);
  const { data } = useSuspenseQuery(ratesQuery(facilityId));
  const mayChange = useHasRole("operator", "warehouse");
  if (isEdited) return <EditRates facilityId={facilityId} present={data} close={() => setIsEdited(false)} />;
  return (
    <Section
      title={t("rates.title")}
      actions={
        mayChange && (
          <Button size="xs" variant="default" onClick={() => setIsEdited(true)}>
            {t("rates.edit")}
          </Button>
        )
      }
    >
      <RateTable rates={data.rates} />
    </Section>
  );
}

/** Countries by weight, in one currency. A rate counts for all weights below it, up to the one before. */
function RateTable({ rates }: Pick<Rates, "rates">) {
  const { t } = useTranslation();
  const currencies = [...new Set(rates.map(({ price }) => price.currency))].toSorted();
  const [chosen, choose] = useState("");
  const currency = currencies.includes(chosen) ? chosen : currencies[0];
  const shown = rates.filter(({ price }) => price.currency === currency).toSorted(byCountry);
  const weights = [...new Set(shown.map(({ maxWeightGrams }) => maxWeightGrams))].toSorted(
    (one, other) => one - other,
  );
  if (rates.length === 0)
    return (
      <Text size="sm" c="dimmed">
        {t("rates.empty")}
      </Text>
    );
  return (
    <>
      {currencies.length > 1 && (
        <SegmentedControl
          size="xs"
          aria-label={t("rates.currency")}
          data={currencies}
          value={currency ?? ""}
          onChange={choose}
          style={{ alignSelf: "flex-start" }}
        />
      )}
      <DataTable
        label={t("rates.title")}
        rows={[...Map.groupBy(shown, ({ countryCode }) => countryCode)]}
        rowKey={([countryCode]) => countryCode}
        columns={[
          { name: t("facilities.country"), cell: ([countryCode]) => countryName(countryCode) },
          ...weights.map((weight) => ({
            name: t("rates.upToWeight", { weight: formatWeight(weight) }),
            align: "right" as const, // Otherwise it is any text.
            cell: ([, ofCountry]: readonly [string, readonly Rate[]]) => (
              <Price of={ofCountry} weight={weight} />
            ),
          })),
        ]}
      />
    </>
  );
}

/** What a weight costs: in grey where the country has no rate of its own for it, but a heavier one. Dash: it is too heavy. */
function Price({ of: rates, weight }: { of: readonly Rate[]; weight: number }) {
  const rate = rates.find(({ maxWeightGrams }) => maxWeightGrams >= weight);
  if (rate === undefined) return "–";
  return (
    <Text span inherit {...(rate.maxWeightGrams !== weight && { c: "dimmed" })}>
      <Money of={rate.price} />
    </Text>
  );
}

/** By the name that is shown, then by weight. */
const byCountry = (one: Rate, other: Rate): number =>
  countryName(one.countryCode).localeCompare(countryName(other.countryCode), formatLocale()) ||
  one.maxWeightGrams - other.maxWeightGrams;

type Row = {
  key: string;
  countryCode: string;
  maxWeightGrams: number | "";
  amount: string;
  currency: string;
};

const rowOf = ({ countryCode, maxWeightGrams, price }: Rate): Row => ({
  key: newReference("row"),
  countryCode,
  maxWeightGrams,
  amount: fieldAmount(price.amount, formatLocale(), price.currency),
  currency: price.currency,
});

const rateOf = ({ countryCode, maxWeightGrams, amount, currency }: Row): Rate => ({
  countryCode: countryCode.trim(),
  maxWeightGrams: Number(maxWeightGrams),
  price: { amount: typedAmount(amount, formatLocale(), currency.trim()), currency: currency.trim() },
});

function EditRates({
  facilityId,
  present,
  close,
}: RatesSectionProps & { present: Rates; close: () => void }) {
  const { t } = useTranslation();
  const { form, submit, problem, isPending, hasConflict } = useApiForm<{ rates: Row[] }>({
    initialValues: { rates: present.rates.map(rowOf) },
    version: present.version,
    run: ({ rates: rows }, { version }) =>
      dataOf(
        api.PUT("/api/facilities/{id}/rates", {
          params: { path: { id: facilityId } },
          body: { rates: rows.map(rateOf), expectedVersion: version },
        }),
      ),
    done: t("rates.saved"),
    onDone: close,
  });
  const currency = form.values.rates.at(-1)?.currency ?? "EUR";
  return (
    <Section title={t("rates.title")}>
      <form onSubmit={submit} noValidate>
        <Stack gap="sm">
          <Text size="sm" c="dimmed">
            {t("rates.effect")}
          </Text>
          {form.values.rates.map((row, index) => (
            <RateFields key={row.key} form={form} index={index} />
          ))}
          <Group>
            <Button
              size="xs"
              variant="default"
              leftSection={<IconPlus size={14} />}
              onClick={() =>
                form.insertListItem("rates", {
                  key: newReference("row"),
                  countryCode: "",
                  maxWeightGrams: "",
                  amount: "",
                  currency,
                })
              }
            >
              {t("rates.add")}
            </Button>
          </Group>
          {problem !== null && <ProblemMessage error={problem} />}
          {hasConflict && (
            <Conflict>
              <RateTable rates={present.rates} />
            </Conflict>
          )}
          <Group justify="flex-end" gap="xs">
            <Button size="xs" variant="default" onClick={close}>
              {t("ui.cancel")}
            </Button>
            <Button size="xs" type="submit" loading={isPending}>
              {t("rates.save")}
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}

type FieldsProps = { readonly form: UseFormReturnType<{ rates: Row[] }>; readonly index: number };

function RateFields({ form, index }: FieldsProps) {
  const { t } = useTranslation();
  return (
    <Group gap="xs" align="flex-start" role="group" aria-label={t("rates.row", { number: index + 1 })}>
      <TextInput
        size="xs"
        w={90}
        maxLength={2}
        aria-label={t("address.countryCode")}
        placeholder="DE"
        {...form.getInputProps(`rates.${index}.countryCode`)}
      />
      <NumberInput
        size="xs"
        w={140}
        min={1}
        allowDecimal={false}
        suffix=" g"
        aria-label={t("rates.upTo")}
        {...form.getInputProps(`rates.${index}.maxWeightGrams`)}
      />
      <TextInput
        size="xs"
        w={100}
        inputMode="decimal"
        aria-label={t("rates.price")}
        {...form.getInputProps(`rates.${index}.amount`)}
        error={form.errors[`rates.${index}.amount`] ?? form.errors[`rates.${index}.price.amount`]}
      />
      <TextInput
        size="xs"
        w={70}
        maxLength={3}
        aria-label={t("rates.currency")}
        {...form.getInputProps(`rates.${index}.currency`)}
        error={form.errors[`rates.${index}.currency`] ?? form.errors[`rates.${index}.price.currency`]}
      />
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={t("rates.remove", { number: index + 1 })}
        onClick={() => form.removeListItem("rates", index)}
      >
        <IconTrash size={16} />
      </ActionIcon>
    </Group>
  );
}
