import IconChevronDown from "icon:chevron-down";
import IconUpload from "icon:upload";
import { Box, Button, Group, NumberInput, Popover, Select, Stack, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useEffect, useEffectEvent, useRef } from "react";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../api/client.ts";
import { useHasRole, useMe } from "../../api/me.ts";
import { newReference } from "../../api/reference.ts";
import type { PickList, PickListWork, Work } from "../../api/schema.d.ts";
import { useLiveQueries } from "../../api/updates.ts";
import { paths } from "../../paths.ts";
import { readStored, store } from "../../stored.ts";
import { countryName, formatNumber } from "../../text/format.ts";
import { DownloadButton } from "../../ui/download-button.tsx";
import { filled, useApiForm } from "../../ui/form/use-api-form.ts";
import { ButtonLink, TextLink, useGo } from "../../ui/link.tsx";
import { IdText } from "../../ui/list/data-table.tsx";
import { Filters, FlagFilter, SelectFilter, useSetFilters } from "../../ui/list/filters.tsx";
import { ListPage } from "../../ui/list/list-page.tsx";
import { Parts } from "../../ui/page.tsx";
import { ProblemMessage } from "../../ui/problem-message.tsx";
import { useScans } from "../../ui/scan/use-scans.ts";
import { Pill } from "../../ui/status-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { openFacilitiesQuery, openPickListsQuery, workFile, workQuery } from "./queries.ts";

const route = getRouteApi("/signed-in/work");
/** The text beside the button says so. */
const LEASE_MINUTES = 60;
const TAKEN_BY = "taken-by";
const FACILITY = "facility";

/** What waits for the warehouse, oldest first, and who is working on what. */
export function WorkPage() {
  const { t } = useTranslation();
  const search = route.useSearch();
  useLiveQueries(
    [workQuery(search), openPickListsQuery(search.facilityId)],
    ({ orders }) => orders.length > 0,
  );
  const packs = useHasRole("operator", "warehouse");
  const go = useGo();
  useScans((code) => void go(paths.station({ scan: code })));
  const isFiltered = search.facilityId !== undefined || search.taken !== undefined;
  const { data: facilities } = useQuery(openFacilitiesQuery());
  const showsFacility = search.facilityId === undefined && (facilities?.data.length ?? 0) > 1;
  const nameOfFacility = (id: string | null) => facilities?.data.find((each) => each.id === id)?.name ?? "–";
  return (
    <ListPage
      title={t("work.title")}
      {...(!packs && { about: t("work.about") })}
      actions={
        <>
          <OpenPickLists facilityId={search.facilityId} />
          {packs && <FileActions />}
        </>
      }
      filters={
        <Group align="flex-end" gap="sm">
          {packs && <TakeOrders facilityId={search.facilityId} />}
          <Box ml={packs ? "auto" : 0}>
            <WorkFilters packs={packs} />
          </Box>
        </Group>
      }
      query={workQuery(search)}
      rowKey={({ orderId }) => orderId}
      rowTo={({ orderId }) => paths.order(orderId)}
      empty={isFiltered ? t("work.emptyFiltered") : t("work.empty")}
      columns={[
        {
          name: t("orders.order"),
          cell: ({ externalOrderId, orderId }) => <IdText id={externalOrderId ?? orderId} />,
        },
        {
          name: t("orders.merchant"),
          cell: ({ merchantName }) => merchantName,
          isName: true,
          drop: 3,
        },
        {
          name: t("work.waiting"),
          cell: ({ createdAt }) => <Time at={createdAt} as="relative" />,
          phone: "end",
        },
        {
          name: t("work.goods"),
          cell: ({ lines }) => <Goods lines={lines} />,
          isLong: true,
          phone: "below",
        },
        ...(showsFacility
          ? [
              {
                name: t("work.facility"),
                cell: ({ facilityId }: Work) => nameOfFacility(facilityId),
                isName: true,
                drop: 2 as const,
              },
            ]
          : []),
        {
          name: t("work.to"),
          cell: ({ shippingAddress: to }) => (
            <Parts of={[to.city, countryName(to.countryCode)]} between=", " />
          ),
          isName: true,
          drop: 1,
        },
        {
          name: t("work.takenBy"),
          cell: ({ pickList, putAside }) => <Taken by={pickList} putAside={putAside} />,
          isName: true,
          phone: "beside",
        },
      ]}
    />
  );
}

/** For those who pack, and do not only read. */
function FileActions() {
  const { t } = useTranslation();
  const search = route.useSearch();
  return (
    <>
      <DownloadButton address={workFile(search)} needsProof />
      <ButtonLink
        to={paths.trackingImport({ facilityId: search.facilityId })}
        size="xs"
        variant="default"
        leftSection={<IconUpload size={14} />}
      >
        {t("work.import")}
      </ButtonLink>
    </>
  );
}

/** The first goods by name, and how many others there are. */
function Goods({ lines }: { lines: Work["lines"] }) {
  const { t } = useTranslation();
  const [first, ...others] = lines;
  return (
    <>
      {formatNumber(first?.quantity ?? 0)} × {first?.name}
      {others.length > 0 && `, ${t("work.otherGoods", { count: others.length })}`}
    </>
  );
}

const Taken = ({ by, putAside }: { by: Work["pickList"]; putAside: Work["putAside"] }) => {
  const { t } = useTranslation();
  if (putAside !== null)
    return (
      <Pill tone="warning" title={putAside.by}>
        {t(`station.aside.${putAside.reason}`)}
      </Pill>
    );
  return by === null ? <Pill>{t("work.free")}</Pill> : by.takenBy;
};

/** Who takes orders has chosen the facility above. */
function WorkFilters({ packs }: { packs: boolean }) {
  const { t } = useTranslation();
  const { facilityId, taken } = route.useSearch();
  const { data } = useQuery(openFacilitiesQuery());
  const facilities = data?.data ?? [];
  return (
    <Filters>
      {!packs && (facilities.length > 1 || facilityId !== undefined) && (
        <SelectFilter
          label={t("work.facility")}
          name="facilityId"
          value={facilityId}
          options={facilities.map(({ id, name }) => ({ value: id, label: name }))}
        />
      )}
      <FlagFilter
        label={t("work.takenFilter")}
        name="taken"
        value={taken}
        yes={t("work.takenYes")}
        no={t("work.takenNo")}
      />
    </Filters>
  );
}

/** Takes a batch. The reference makes a second click, or a retry, the same batch. */
function TakeOrders({ facilityId }: { facilityId: string | undefined }) {
  const { t } = useTranslation();
  const me = useMe();
  const go = useGo();
  const { data } = useQuery(openFacilitiesQuery());
  const setFilters = useSetFilters();
  const facilities = data?.data ?? [];
  // People work in one building for a long time: the list begins with the one that was chosen last.
  const last = facilities.find(({ id }) => id === readStored(FACILITY))?.id;
  const begin = useEffectEvent(() => setFilters({ facilityId: last }));
  useEffect(() => {
    if (facilityId === undefined && last !== undefined) begin();
  }, [facilityId, last]);
  const facility = facilityId ?? (facilities.length === 1 ? facilities[0]?.id : undefined);
  const choose = (id: string | null) => {
    store(FACILITY, id ?? "");
    setFilters({ facilityId: id ?? undefined });
  };
  const reference = useRef(newReference("console"));
  const { form, submit, problem, isPending } = useApiForm<
    { takenBy: string; orderLimit: number },
    PickListWork
  >({
    initialValues: { takenBy: readStored(TAKEN_BY) ?? me.name, orderLimit: 10 },
    validate: ({ takenBy }) => (takenBy.trim() === "" ? { takenBy: t("ui.required") } : {}),
    run: ({ takenBy, orderLimit }) =>
      dataOf(
        api.POST("/api/pick-lists", {
          body: {
            takenBy: takenBy.trim(),
            orderLimit,
            leaseMinutes: LEASE_MINUTES,
            reference: reference.current,
            ...filled({ facilityId: facility }),
          },
        }),
      ),
    onDone: ({ pickList }) => {
      reference.current = newReference("console");
      store(TAKEN_BY, form.values.takenBy.trim());
      if (pickList === null) form.setFieldError("orderLimit", t("work.nothingFree"));
      else void go(paths.pickList(pickList.id));
    },
  });
  const needsFacility = facilities.length > 0 && facility === undefined;
  return (
    <form onSubmit={submit} noValidate aria-label={t("work.take")} style={{ display: "contents" }}>
      {facilities.length > 1 && (
        <Select
          size="xs"
          flex="1 1 11rem"
          maw="16rem"
          label={t("work.facility")}
          placeholder={t("work.facility")}
          data={facilities.map(({ id, name }) => ({ value: id, label: name }))}
          value={facility ?? null}
          onChange={choose}
          clearable
        />
      )}
      <TextInput
        size="xs"
        flex="1 1 11rem"
        maw="16rem"
        label={t("work.takenByLabel")}
        maxLength={255}
        {...form.getInputProps("takenBy")}
      />
      <NumberInput
        size="xs"
        w={110}
        label={t("work.number")}
        min={1}
        max={100}
        allowDecimal={false}
        {...form.getInputProps("orderLimit")}
      />
      <Button type="submit" size="xs" loading={isPending} disabled={data === undefined || needsFacility}>
        {t("work.takeOldest")}
      </Button>
      <Text size="xs" c="dimmed" flex="1 1 12rem" maw="18rem" style={{ textWrap: "pretty" }}>
        {needsFacility ? t("work.chooseFacility") : t("work.takeEffect")}
      </Text>
      {problem !== null && (
        <Box w="100%">
          <ProblemMessage error={problem} />
        </Box>
      )}
    </form>
  );
}

/** Lists that people are working on, in one button, so that the orders stay in view however many there are. */
function OpenPickLists({ facilityId }: { facilityId: string | undefined }) {
  const { t } = useTranslation();
  const { data } = useQuery(openPickListsQuery(facilityId));
  const lists: readonly PickList[] = data?.data ?? [];
  if (lists.length === 0) return null;
  return (
    <Popover position="bottom-end" width={340} trapFocus returnFocus>
      <Popover.Target>
        <Button size="xs" variant="default" rightSection={<IconChevronDown size={14} />}>
          {t("work.openLists", { count: lists.length })}
        </Button>
      </Popover.Target>
      <Popover.Dropdown
        aria-label={t("work.openLists", { count: lists.length })}
        mah="70vh"
        maw="calc(100vw - 1rem)"
        style={{ overflowY: "auto" }}
      >
        <Stack gap="xs">
          {lists.map(({ id, takenBy, expiresAt }) => (
            <Group key={id} justify="space-between" wrap="nowrap" gap="sm">
              <TextLink to={paths.pickList(id)} size="sm" style={{ overflowWrap: "anywhere" }}>
                <bdi>{takenBy}</bdi>
              </TextLink>
              <Text size="xs" c="dimmed" style={{ whiteSpace: "nowrap" }}>
                {t("work.until")} <Time at={expiresAt} as="relative" />
              </Text>
            </Group>
          ))}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
