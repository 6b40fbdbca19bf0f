import { Group, NumberInput, Select, Skeleton, Stack, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../api/client.ts";
import { useHasRole } from "../../api/me.ts";
import type { Certification, CertificationCheck, Connection } from "../../api/schema.d.ts";
import { explainedCheck } from "../../text/explanations.ts";
import { formatNumber, shortTime } from "../../text/format.ts";
import { CopiedText } from "../../ui/copy-button.tsx";
import { Facts } from "../../ui/facts.tsx";
import { ConfirmAction } from "../../ui/form/confirm-action.tsx";
import { DataTable } from "../../ui/list/data-table.tsx";
import { Section } from "../../ui/page.tsx";
import { ProblemMessage } from "../../ui/problem-message.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { CodeActions } from "../sandbox/code-actions.tsx";
import { certificationOf, lostCreationOf } from "../sandbox/partner-request.ts";
import { exposedProductsQuery } from "../sandbox/queries.ts";
import { endpointName } from "../webhooks/owner.tsx";
import { testEndpointsQuery } from "../webhooks/queries.ts";
import { certificationsQuery, connectionQuery } from "./queries.ts";

/** A run makes a step each second. */
const RUNNING_MS = 2_000;

const openOf = (runs: readonly Certification[] = []): Certification | undefined =>
  runs.find(({ finishedAt }) => finishedAt === null);

/** How the partner's program has done when it was examined, and whether a live key needs it. */
export function CertificationSection({ connection }: { connection: Connection }) {
  const { t } = useTranslation();
  const { data, error, refetch } = useQuery({
    ...certificationsQuery(connection.id),
    refetchInterval: ({ state }) => openOf(state.data?.data) !== undefined && RUNNING_MS,
  });
  const open = openOf(data?.data);
  useCertifiedAfter(connection.id, open?.id);
  const mayChange = useHasRole("operator", "merchant");
  const tests = useHasRole("operator", "merchant", "partner");
  const { certificationMaxAgeDays: days, certifiedAt } = connection;
  return (
    <Section
      title={t("certification.title")}
      actions={
        <>
          {mayChange && <ChangeRequirement connection={connection} />}
          {tests &&
            data !== undefined &&
            (open === undefined ? (
              <StartRun connection={connection} />
            ) : (
              <CancelRun run={open} of={connection} />
            ))}
        </>
      }
    >
      <Facts
        of={[
          [
            t("certification.required"),
            days === null ? t("certification.notRequired") : t("certification.within", { count: days }),
          ],
          [
            t("certification.passedAt"),
            certifiedAt === null ? t("certification.never") : <Time key="passed" at={certifiedAt} />,
          ],
        ]}
      />
      {error !== null && <ProblemMessage error={error} retry={() => void refetch()} />}
      {data === undefined && error === null && (
        <Skeleton height={80} role="status" aria-label={t("ui.loading")} />
      )}
      {data?.data.length === 0 && (
        <Text size="sm" c="dimmed">
          {t("certification.empty")}
        </Text>
      )}
      {open !== undefined && <RunningRun run={open} connection={connection} />}
      {data !== undefined && data.data.length > 0 && <Reports runs={data.data} />}
    </Section>
  );
}

/** The connection says when a run has passed, so it is read again when the open one ends. */
function useCertifiedAfter(connectionId: string, openId: string | undefined): void {
  const client = useQueryClient();
  useEffect(() => {
    if (openId === undefined) return;
    return () => void client.invalidateQueries({ queryKey: connectionQuery(connectionId).queryKey });
  }, [client, connectionId, openId]);
}

/** Begins a run for a test endpoint, or copies the request by which the partner's program does. */
function StartRun({ connection: { id, apiUrl } }: { connection: Connection }) {
  const { t } = useTranslation();
  const { data: endpoints = [] } = useQuery(testEndpointsQuery(id));
  const [first] = endpoints;
  return (
    <ConfirmAction<{ endpointId: string }>
      label={t("certification.start")}
      effect={t("certification.startEffect")}
      done={t("certification.started")}
      initialValues={{ endpointId: first?.id ?? "" }}
      validate={({ endpointId }) =>
        endpointId === "" ? { endpointId: t("certification.needsEndpoint") } : {}
      }
      fields={(form) => (
        <Stack gap="xs" align="flex-start">
          <Select
            label={t("certification.endpoint")}
            w="100%"
            data={endpoints.map((endpoint) => ({ value: endpoint.id, label: endpointName(endpoint, t) }))}
            allowDeselect={false}
            openOnFocus={false}
            data-autofocus
            {...form.getInputProps("endpointId")}
          />
          {form.values.endpointId !== "" && (
            <CodeActions
              of={t("certification.title")}
              apiUrl={apiUrl}
              request={certificationOf(form.values.endpointId)}
            />
          )}
        </Stack>
      )}
      run={(body) =>
        dataOf(api.POST("/api/connections/{id}/certifications", { params: { path: { id } }, body }))
      }
    />
  );
}

function CancelRun({ run, of }: { run: Certification; of: Connection }) {
  const { t } = useTranslation();
  return (
    <ConfirmAction
      label={t("certification.cancel")}
      effect={t("certification.cancelEffect")}
      done={t("certification.canceled")}
      isDanger
      run={() =>
        dataOf(
          api.POST("/api/connections/{id}/certifications/{certificationId}/cancel", {
            params: { path: { id: of.id, certificationId: run.id } },
          }),
        )
      }
    />
  );
}

/** What an open run does, and the test order that it waits for. */
function RunningRun({ run, connection }: { run: Certification; connection: Connection }) {
  const { t } = useTranslation();
  const { data: products } = useQuery(exposedProductsQuery(connection.id, ""));
  const product = products?.data[0];
  const { phase, checks, lostCreation } = run;
  const decided = checks.filter(({ result }) => result !== "pending").length;
  const waits = checks.some(({ check, result }) => check === "lost-creation" && result === "pending");
  return (
    <Stack gap="xs">
      <Text size="sm" role="status">
        {phase !== null && t(`certification.phases.${phase}`)}{" "}
        {t("certification.decided", { decided: formatNumber(decided), checks: formatNumber(checks.length) })}
      </Text>
      {waits && (
        <Stack gap={4}>
          <Text size="sm">
            {t("certification.lostCreation", { time: shortTime(new Date(lostCreation.until), new Date()) })}
          </Text>
          <Group gap="xs">
            <CopiedText value={lostCreation.externalOrderId} of={t("certification.externalOrderId")} />
            {product !== undefined && (
              <CodeActions
                of={t("certification.externalOrderId")}
                apiUrl={connection.apiUrl}
                request={lostCreationOf(lostCreation.externalOrderId, product.id)}
              />
            )}
          </Group>
        </Stack>
      )}
    </Stack>
  );
}

/** The newest report, or the one that is chosen. */
function Reports({ runs }: { runs: readonly Certification[] }) {
  const { t } = useTranslation();
  const [chosen, setChosen] = useState<string | null>(null);
  const run = runs.find(({ id }) => id === chosen) ?? runs[0];
  if (run === undefined) return null;
  return (
    <Stack gap="sm">
      <Select
        label={t("certification.run")}
        data={runs.map(({ id, createdAt, status }) => ({
          value: id,
          label: `${shortTime(new Date(createdAt), new Date())} · ${t(`status.certification.${status}`)}`,
        }))}
        value={run.id}
        onChange={setChosen}
        allowDeselect={false}
      />
      {run.reason !== null && (
        <Text size="sm" lang="en">
          {run.reason}
        </Text>
      )}
      <DataTable
        label={t("certification.report")}
        rows={run.checks}
        rowKey={({ check }) => check}
        columns={[
          {
            name: t("certification.check"),
            cell: ({ check }) => t(`certification.checks.${check}`),
          },
          {
            name: t("certification.result"),
            cell: ({ result }) => <StatusBadge of="certificationCheck" status={result} />,
          },
          { name: t("certification.seen"), cell: (check) => <Seen of={check} /> },
        ]}
      />
    </Stack>
  );
}

/** What was seen is in English, with the names of the protocol. What passed needs no advice. */
const Seen = ({ of: check }: { of: CertificationCheck }) => (
  <Stack gap={2} style={{ overflowWrap: "anywhere" }}>
    <Text span size="sm" lang="en">
      {check.seen ?? "–"}
    </Text>
    {(check.result === "failed" || check.result === "advice") && (
      <Text span size="xs" c="dimmed">
        {explainedCheck(check)}
      </Text>
    )}
  </Stack>
);

/** An empty field requires nothing. */
function ChangeRequirement({ connection: { id, certificationMaxAgeDays } }: { connection: Connection }) {
  const { t } = useTranslation();
  return (
    <ConfirmAction<{ certificationMaxAgeDays: number | string }>
      label={t("certification.change")}
      effect={t("certification.changeEffect")}
      done={t("certification.changed")}
      initialValues={{ certificationMaxAgeDays: certificationMaxAgeDays ?? "" }}
      fields={(form) => (
        <NumberInput
          label={t("certification.maxAge")}
          description={t("certification.maxAgeHelp")}
          min={1}
          max={3650}
          allowDecimal={false}
          data-autofocus
          {...form.getInputProps("certificationMaxAgeDays")}
        />
      )}
      run={({ certificationMaxAgeDays: days }) =>
        dataOf(
          api.PATCH("/api/connections/{id}", {
            params: { path: { id } },
            body: { certificationMaxAgeDays: days === "" ? null : Number(days) },
          }),
        )
      }
    />
  );
}
