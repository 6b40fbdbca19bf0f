import { SegmentedControl } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { rolesOf, useMe } from "../../api/me.ts";
import { useSetFilters } from "../../ui/list/filters.tsx";
import { Page } from "../../ui/page.tsx";
import { FigureSections } from "./figure-sections.tsx";
import { PERIOD_DEFAULT, PERIODS, partsFor } from "./queries.ts";
import { WorkSections } from "./work-sections.tsx";

const route = getRouteApi("/signed-in/");

/** What waits for the person, and how it goes: for the warehouse by facility, for all others the figures of the last weeks. */
export function OverviewPage() {
  const { t } = useTranslation();
  const { hasFigures, hasWork } = partsFor(rolesOf(useMe()));
  return (
    <Page
      title={t("overview.title")}
      about={t(hasFigures ? "overview.about" : "overview.aboutWork")}
      actions={hasFigures && <PeriodChoice />}
    >
      {hasWork && <WorkSections hasAttention={!hasFigures} />}
      {hasFigures && <FigureSections />}
    </Page>
  );
}

function PeriodChoice() {
  const { t } = useTranslation();
  const { days = PERIOD_DEFAULT } = route.useSearch();
  const setFilters = useSetFilters();
  return (
    <SegmentedControl
      size="xs"
      aria-label={t("overview.period")}
      value={days}
      onChange={(value) => setFilters({ days: value === PERIOD_DEFAULT ? undefined : value })}
      data={PERIODS.map((value) => ({ value, label: t("overview.days", { count: Number(value) }) }))}
    />
  );
}
