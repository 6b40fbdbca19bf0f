import { MultiSelect, NumberInput, Textarea, TextInput } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { useTranslation } from "react-i18next";
import { EVENT_TYPES, type OwnedEventType } from "../filter-values.ts";
import type { OwnerKind } from "../owner.tsx";

export type EndpointValues = {
  url: string;
  description: string;
  eventTypes: OwnedEventType[];
  maxInFlight: number | string;
  /** A header on each line, as in a request. */
  headers: string;
  alertEmail: string;
};

/** Of an endpoint, whose values are hidden. */
export const headersText = (headers: Readonly<Record<string, string>>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join("\n");

/** The opposite. A line without a colon is a name without a value, which the service rejects. */
export const headersIn = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .split("\n")
      .filter((line) => line.trim() !== "")
      .map((line) => {
        const [name = "", ...value] = line.split(":");
        return [name.trim(), value.join(":").trim()];
      }),
  );

/** The limit of the service. */
const IN_FLIGHT_MAX = 100;

type Props<Values extends EndpointValues> = {
  readonly form: UseFormReturnType<Values>;
  readonly kind: OwnerKind;
  /** A pull endpoint has no address, and no headers. */
  readonly isPull?: boolean;
  /** What an empty choice of types means. */
  readonly typesHelp: string;
};

/** What a person sets of an endpoint, and can change. */
export function EndpointFields<Values extends EndpointValues>({
  form,
  kind,
  isPull = false,
  typesHelp,
}: Props<Values>) {
  const { t } = useTranslation();
  return (
    <>
      {!isPull && (
        <TextInput
          label={t("endpoints.url")}
          description={t("endpoints.urlHelp")}
          placeholder="https://"
          inputMode="url"
          required
          data-autofocus
          {...form.getInputProps("url")}
        />
      )}
      <MultiSelect
        label={t("endpoints.eventTypes")}
        description={typesHelp}
        data={[...EVENT_TYPES[kind]]}
        searchable
        clearable
        {...form.getInputProps("eventTypes")}
      />
      <NumberInput
        label={t(isPull ? "endpoints.maxLeased" : "endpoints.maxInFlight")}
        min={1}
        max={IN_FLIGHT_MAX}
        allowDecimal={false}
        {...form.getInputProps("maxInFlight")}
      />
      {!isPull && (
        <Textarea
          label={t("endpoints.headers")}
          description={t("endpoints.headersHelp")}
          autosize
          spellCheck={false}
          {...form.getInputProps("headers")}
        />
      )}
      <TextInput
        label={t("endpoints.alertEmail")}
        description={t("endpoints.alertEmailHelp")}
        inputMode="email"
        {...form.getInputProps("alertEmail")}
      />
      <TextInput label={t("endpoints.description")} maxLength={255} {...form.getInputProps("description")} />
    </>
  );
}
