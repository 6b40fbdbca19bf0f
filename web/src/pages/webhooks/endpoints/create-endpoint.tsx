import IconPlus from "icon:plus";
import { SegmentedControl, Select, Stack } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQueries } from "@tanstack/react-query";
import { type ReactNode, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../../api/client.ts";
import { rolesOf, useMe } from "../../../api/me.ts";
import type { Me } from "../../../api/schema.d.ts";
import { ConfirmAction } from "../../../ui/form/confirm-action.tsx";
import { filled } from "../../../ui/form/use-api-form.ts";
import { ShownOnce } from "../../../ui/shown-once.tsx";
import { thingsQuery } from "../../things.ts";
import { changeableKinds, type OwnerKind, ownerKindOf, ownerRoute } from "../owner.tsx";
import { EndpointFields, type EndpointValues, headersIn } from "./endpoint-fields.tsx";

type Values = EndpointValues & { owner: string; kind: "push" | "pull"; mode: "live" | "test" };

/** As the service has it for a new endpoint. */
const IN_FLIGHT_DEFAULT = 8;

/**
 * Registers an address for events, and shows its signing secret once.
 * @param ownerId undefined: the dialog lets the person choose
 */
export function CreateEndpoint({ ownerId }: { ownerId?: string }) {
  const { t } = useTranslation();
  const [secret, setSecret] = useState<string | null>(null);
  return (
    <>
      <ConfirmAction<Values>
        label={t("endpoints.create")}
        effect={t("endpoints.createEffect")}
        done={t("endpoints.createdDone")}
        icon={<IconPlus size={14} />}
        initialValues={{
          owner: ownerId ?? "",
          kind: "push",
          url: "",
          description: "",
          mode: "live",
          eventTypes: [],
          maxInFlight: IN_FLIGHT_DEFAULT,
          headers: "",
          alertEmail: "",
        }}
        validate={({ owner, kind, url }) => ({
          ...(owner === "" && { owner: t("ui.required") }),
          ...(!isPull(owner, kind) && url.trim() === "" && { url: t("ui.required") }),
        })}
        fields={(form) => {
          const kind = ownerKindOf(form.values.owner);
          return (
            <Stack gap="sm">
              {ownerId === undefined && (
                <OwnerField
                  value={form.values.owner}
                  error={form.errors["owner"]}
                  onChange={(owner) => form.setValues({ owner, eventTypes: [] })}
                />
              )}
              {kind === "connection" && (
                <SegmentedControl
                  aria-label={t("endpoints.kind")}
                  data={(["push", "pull"] as const).map((each) => ({
                    value: each,
                    label: t(`endpoints.kinds.${each}`),
                  }))}
                  {...form.getInputProps("kind")}
                />
              )}
              <EndpointFields
                form={form}
                kind={kind}
                isPull={isPull(form.values.owner, form.values.kind)}
                typesHelp={t(`endpoints.typesHelp.${kind}`)}
              />
              {kind === "connection" && (
                <SegmentedControl
                  aria-label={t("endpoints.mode")}
                  data={(["live", "test"] as const).map((mode) => ({
                    value: mode,
                    label: t(`keys.modes.${mode}`),
                  }))}
                  {...form.getInputProps("mode")}
                />
              )}
            </Stack>
          );
        }}
        run={async ({
          owner,
          kind,
          url,
          description,
          mode,
          eventTypes,
          maxInFlight,
          headers,
          alertEmail,
        }) => {
          const endpoint = await dataOf(
            api.POST(ownerRoute(owner, "/webhook-endpoints"), {
              params: { path: { id: owner } },
              body: {
                // Only the routes of connections make endpoints without an address.
                ...(isPull(owner, kind) ? { kind, url: undefined as never } : { url: url.trim() }),
                ...(ownerKindOf(owner) === "connection" && { mode }),
                ...filled({ description, alertEmail }),
                // The field offers the types of the owner.
                ...(eventTypes.length > 0 && { eventTypes: eventTypes as never[] }),
                ...(maxInFlight !== "" && { maxInFlight: Number(maxInFlight) }),
                ...(!isPull(owner, kind) && headers.trim() !== "" && { headers: headersIn(headers) }),
              },
            }),
          );
          setSecret(endpoint.secret);
        }}
      />
      <ShownOnce
        title={t("endpoints.secret")}
        about={t("endpoints.secretAbout")}
        value={secret}
        onClose={() => setSecret(null)}
      />
    </>
  );
}

/** Only the programs of partners lease deliveries. */
const isPull = (owner: string, kind: Values["kind"]): boolean =>
  kind === "pull" && ownerKindOf(owner) === "connection";

/** Waits for the end of a word, so that each letter is not a request. */
const TYPING_MS = 200;

const THINGS = { connection: "connections", merchant: "merchants", facility: "facilities" } as const;

/** A person of the warehouse sees all merchants, and may give endpoints to those of its other grants alone. */
const mayOwn = ({ grants }: Me, kind: OwnerKind, id: string): boolean =>
  kind !== "merchant" ||
  grants.some(({ role, merchantIds }) => role === "operator" || merchantIds.includes(id));

type Props = {
  readonly value: string;
  readonly onChange: (ownerId: string) => void;
  readonly error: ReactNode;
};

/** Whose endpoint it will be. With one owner alone there is nothing to choose, and no field. */
function OwnerField({ value, onChange, error }: Props) {
  const { t } = useTranslation();
  const me = useMe();
  const kinds = changeableKinds(rolesOf(me));
  const [typed, setTyped] = useState("");
  const [q] = useDebouncedValue(typed.trim(), TYPING_MS);
  const [chosen, setChosen] = useState<{ value: string; label: string } | null>(null);
  const searched = q === chosen?.label ? "" : q; // The field shows the name of what is chosen.
  const found = useQueries({
    queries: kinds.map((kind) => ({
      ...thingsQuery(THINGS[kind], searched),
      placeholderData: keepPreviousData,
    })),
  });
  const groups = kinds.map((kind, index) => ({
    group: t(`endpoints.owners.${kind}`),
    items: (found[index]?.data ?? [])
      .filter(({ id }) => mayOwn(me, kind, id))
      .map(({ id, name }) => ({ value: id, label: name })),
  }));
  const all = groups.flatMap(({ items }) => items);
  const [only] = all;
  const isOnly = searched === "" && all.length === 1 && found.every(({ isSuccess }) => isSuccess);
  useEffect(() => {
    if (isOnly && only !== undefined && value === "") onChange(only.value);
  });
  if (isOnly && only?.value === value) return null;
  const isMissing = chosen !== null && !all.some((option) => option.value === chosen.value);
  return (
    <Select
      label={t("endpoints.owner")}
      description={t("endpoints.ownerHelp")}
      required
      data={[...(isMissing ? [{ group: t("endpoints.chosen"), items: [chosen] }] : []), ...groups]}
      value={value === "" ? null : value}
      onChange={(id, option) => {
        setChosen(option === null ? null : { value: option.value, label: option.label });
        onChange(id ?? "");
      }}
      searchable
      searchValue={typed}
      onSearchChange={setTyped}
      filter={({ options }) => options} // The service has searched.
      nothingFoundMessage={t("palette.nothing")}
      error={error}
      comboboxProps={{ withinPortal: false }}
    />
  );
}
