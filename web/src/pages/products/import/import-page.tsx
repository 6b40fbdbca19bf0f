import { Button, FileInput, Group, Progress, Radio, Stack, Text } from "@mantine/core";
import { IconFileSpreadsheet } from "@tabler/icons-react";
import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import type { ImportMatch } from "../../../api/schema.d.ts";
import { paths } from "../../../paths.ts";
import { formatBytes, formatNumber } from "../../../text/format.ts";
import { DownloadButton } from "../../../ui/download-button.tsx";
import { ButtonLink } from "../../../ui/link.tsx";
import { Page } from "../../../ui/page.tsx";
import { Section } from "../../../ui/section.tsx";
import { merchantQuery } from "../../merchants/queries.ts";
import { MerchantCrumbs } from "../products-page.tsx";
import { productsCsv } from "../queries.ts";
import { ImportFailure } from "./import-failure.tsx";
import { ImportRows } from "./import-rows.tsx";
import { type ImportState, useImport } from "./use-import.ts";

const route = getRouteApi("/signed-in/products/of/$merchantId/import");

type Running = ReturnType<typeof useImport>;

/** Products from a file: the file is checked at once, and imported when the person has seen what would change. */
export function ImportPage() {
  const { t } = useTranslation();
  const { merchantId } = route.useParams();
  const { data: merchant } = useSuspenseQuery(merchantQuery(merchantId));
  const running = useImport(merchantId);
  const { state } = running;
  return (
    <Page
      title={t("importing.title")}
      about={t("importing.about")}
      crumbs={
        <MerchantCrumbs
          merchant={merchant}
          below={[[t("products.title"), paths.merchantProducts(merchant.id)]]}
        />
      }
      actions={<DownloadButton address={productsCsv(merchantId)} label={t("products.exportOf")} />}
    >
      <ChooseFile running={running} />
      {(state.phase === "checking" || state.phase === "storing") && (
        <Uploading state={state} name={running.file?.name ?? ""} cancel={running.cancel} />
      )}
      {state.phase === "failed" && (
        <ImportFailure error={state.error} retry={() => running.choose(running.file, running.match)} />
      )}
      {(state.phase === "checked" || state.phase === "stored") && (
        <Result running={running} state={state} merchantId={merchantId} />
      )}
    </Page>
  );
}

function ChooseFile({ running: { file, match, state, choose } }: { running: Running }) {
  const { t } = useTranslation();
  const isBusy = state.phase === "storing";
  return (
    <Section title={t("importing.file")}>
      <Stack
        gap="md"
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => {
          event.preventDefault();
          const [dropped] = event.dataTransfer.files;
          if (dropped !== undefined && !isBusy) choose(dropped, match);
        }}
      >
        <Group gap="sm" align="center">
          <FileInput
            w={{ base: "100%", xs: 340 }}
            aria-label={[t("importing.chooseFile"), file?.name].filter(Boolean).join(": ")}
            placeholder={t("importing.chooseFile")}
            accept=".csv,text/csv"
            leftSection={<IconFileSpreadsheet size={16} />}
            value={file}
            onChange={(chosen) => choose(chosen, match)}
            disabled={isBusy}
            clearable={!isBusy}
            clearButtonProps={{ "aria-label": t("ui.clear") }}
          />
          <Text size="sm" c="dimmed" visibleFrom="sm">
            {t("importing.drop")}
          </Text>
        </Group>
        <Radio.Group
          label={t("importing.match")}
          value={match}
          // The radio buttons have these two values.
          onChange={(value) => choose(file, value as ImportMatch)}
        >
          <Stack gap={6} mt={6}>
            <Radio value="sku" label={t("importing.matchSku")} disabled={isBusy} />
            <Radio value="id" label={t("importing.matchId")} disabled={isBusy} />
          </Stack>
        </Radio.Group>
        {file === null && (
          <Stack gap={2}>
            {(["fileHelp", "price", "start"] as const).map((name) => (
              <Text key={name} size="sm" c="dimmed">
                {t(`importing.${name}`)}
              </Text>
            ))}
          </Stack>
        )}
        {state.phase === "choosing" && state.isCanceled && (
          <Text size="sm" role="status">
            {t("importing.canceled")}
          </Text>
        )}
      </Stack>
    </Section>
  );
}

type UploadingProps = {
  readonly state: Extract<ImportState, { phase: "checking" | "storing" }>;
  readonly name: string;
  readonly cancel: () => void;
};

/** The service checks the file as it arrives: what is sent is what is checked, but for a few rows. Then it stores them. */
function Uploading({ state, name, cancel }: UploadingProps) {
  const { t } = useTranslation();
  const { phase, sent } = state;
  const stored = state.phase === "storing" ? state.stored : null;
  const isSent = sent.sent >= sent.total;
  const title = t(phase === "checking" ? "importing.checking" : "importing.storing", { file: name });
  const part = stored === null ? partOf(sent.sent, sent.total) : partOf(stored.stored, stored.total);
  return (
    <Section title={title}>
      <Progress value={part} animated={isSent && stored === null} aria-label={title} />
      <Group justify="space-between">
        <Text size="sm" role="status">
          {stored !== null
            ? t("importing.stored", {
                stored: formatNumber(stored.stored),
                total: formatNumber(stored.total),
              })
            : isSent
              ? t("importing.rest")
              : t("importing.sent", { sent: formatBytes(sent.sent), total: formatBytes(sent.total) })}
        </Text>
        {/* What has arrived whole is stored, whether the page waits or not. */}
        {!(phase === "storing" && isSent) && (
          <Button size="xs" variant="default" onClick={cancel}>
            {t("importing.cancel")}
          </Button>
        )}
      </Group>
    </Section>
  );
}

const partOf = (done: number, total: number): number => (total === 0 ? 100 : (done / total) * 100);

type ResultProps = {
  readonly running: Running;
  readonly state: Extract<ImportState, { phase: "checked" | "stored" }>;
  readonly merchantId: string;
};

function Result({ running, state: { phase, result }, merchantId }: ResultProps) {
  const { t } = useTranslation();
  const count = result.created + result.changed;
  const isStored = phase === "stored";
  return (
    <Section
      title={t(isStored ? "importing.result" : "importing.preview")}
      actions={
        isStored ? (
          <Group gap="xs">
            <Button size="xs" variant="default" onClick={() => running.choose(null, running.match)}>
              {t("importing.another")}
            </Button>
            <ButtonLink to={paths.merchantProducts(merchantId)} size="xs">
              {t("importing.toProducts")}
            </ButtonLink>
          </Group>
        ) : (
          count > 0 && (
            <Button size="sm" onClick={running.store}>
              {t("importing.import", { count })}
            </Button>
          )
        )
      }
    >
      <Group gap="xl" role="status">
        {(["created", "changed", "unchanged"] as const).map((change) => (
          <div key={change}>
            <Text fz={24} fw={600} lh={1.2} style={{ fontVariantNumeric: "tabular-nums" }}>
              {formatNumber(result[change])}
            </Text>
            <Text size="sm" c="dimmed">
              {t(`importing.${change}`)}
            </Text>
          </div>
        ))}
      </Group>
      {!isStored && (
        <Text size="sm" c="dimmed">
          {t(count === 0 ? "importing.nothing" : "importing.importEffect")}
        </Text>
      )}
      <ImportRows result={result} />
    </Section>
  );
}
