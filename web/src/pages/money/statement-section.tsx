import { Box } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { formatNumber } from "../../text/format.ts";
import { Facts } from "../../ui/facts.tsx";
import { Money } from "../../ui/money.tsx";
import { Section } from "../../ui/section.tsx";
import { Time } from "../../ui/time.tsx";
import type { statementQuery } from "./queries.ts";

type Props = {
  readonly query: ReturnType<typeof statementQuery>;
  readonly actions: ReactNode;
  /** The choice of the period. */
  readonly children: ReactNode;
};

/** The sums of a period. They add up: opening, charges, refunds and payments are the closing balance. */
export function StatementSection({ query, actions, children }: Props) {
  const { t } = useTranslation();
  const { data } = useQuery(query); // The list below shows its error.
  return (
    <Section title={t("money.statement")} actions={actions}>
      {children}
      {data !== undefined && (
        <Box maw={560}>
          <Facts
            of={[
              [
                t("money.period"),
                <span key="period">
                  <Time at={data.from} as="exact" /> – <Time at={data.to} as="exact" />
                </span>,
              ],
              [t("money.opening"), <Money key="opening" of={data.opening} />],
              [t("money.chargesSum"), <Money key="charges" of={data.charges} />],
              [t("money.refunds"), <Money key="refunds" of={data.refunds} />],
              [t("money.paidIn"), <Money key="payments" of={data.payments} />],
              [t("money.closing"), <Money key="closing" of={data.closing} />],
              [t("money.entries"), formatNumber(data.entryCount)],
            ]}
          />
        </Box>
      )}
    </Section>
  );
}
