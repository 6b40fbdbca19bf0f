import { Alert, List, Text } from "@mantine/core";
import { IconHandStop } from "@tabler/icons-react";
import { useTranslation } from "react-i18next";
import type { Order } from "../../../api/schema.d.ts";
import { Time } from "../../../ui/time.tsx";
import { useActor } from "../actor.ts";
import { useHoldReason } from "../hold-reason.ts";

/** Why the order waits, in the first place of the page. */
export function OrderHolds({ order: { holds } }: { order: Order }) {
  const { t } = useTranslation();
  const holdReason = useHoldReason();
  const actorOf = useActor();
  if (holds.length === 0) return null;
  return (
    <Alert color="orange" variant="light" icon={<IconHandStop size={18} />} title={t("order.onHold")}>
      <List size="sm" spacing={2}>
        {holds.map(({ reason, since, placedBy }) => (
          <List.Item key={reason}>
            {holdReason(reason)}{" "}
            <Text span c="dimmed" size="xs">
              {t("order.heldBy", { actor: actorOf(placedBy) })} · <Time at={since} as="relative" />
            </Text>
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}
