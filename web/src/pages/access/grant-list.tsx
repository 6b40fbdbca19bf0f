import { Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import type { Grant } from "../../api/schema.d.ts";
import { TextLink } from "../../ui/link.tsx";
import { Pill } from "../../ui/status-badge.tsx";
import { THINGS_OF, type ThingKind, thingsOf } from "./roles.ts";
import { thingPath, thingQuery } from "./things.ts";

/** Things beyond these are shown as a number. */
const SHOWN_MAX = 10;

/** Roles with the names of what each is for. */
export const GrantList = ({ grants }: { grants: readonly Grant[] }) => (
  <Stack gap="xs">
    {grants.map((grant) => (
      <GrantOf key={grant.role} grant={grant} />
    ))}
  </Stack>
);

export function GrantOf({ grant }: { grant: Grant }) {
  const { t } = useTranslation();
  const kind = THINGS_OF[grant.role];
  const ids = thingsOf(grant);
  return (
    <Group gap={8} align="baseline">
      <Pill tone={grant.role === "operator" ? "warning" : "info"}>{t(`access.names.${grant.role}`)}</Pill>
      {kind !== null && ids.length === 0 && (
        <Text span size="sm">
          {t("access.allFacilities")}
        </Text>
      )}
      {kind !== null && ids.slice(0, SHOWN_MAX).map((id) => <ThingName key={id} kind={kind} id={id} />)}
      {ids.length > SHOWN_MAX && (
        <Text span size="sm" c="dimmed">
          + {ids.length - SHOWN_MAX}
        </Text>
      )}
    </Group>
  );
}

/** The name of a merchant, facility or connection. Its id while that is on the way, or if the person may not read it. */
function ThingName({ kind, id }: { kind: ThingKind; id: string }) {
  const { data } = useQuery(thingQuery(kind, id));
  return (
    <TextLink to={thingPath[kind](id)} size="sm" lh="24px">
      {data?.name ?? id}
    </TextLink>
  );
}

/** Roles in a few words, for lists. */
export function RolesInShort({ grants }: { grants: readonly Grant[] }) {
  const { t } = useTranslation();
  return (
    <Group gap={4}>
      {grants.map((grant) => {
        const name = t(`access.names.${grant.role}`);
        const { length } = thingsOf(grant);
        return (
          <Pill key={grant.role} tone={grant.role === "operator" ? "warning" : "info"}>
            {length === 0 ? name : `${name} (${length})`}
          </Pill>
        );
      })}
    </Group>
  );
}
