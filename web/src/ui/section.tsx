import { Group, Paper, Stack, Title } from "@mantine/core";
import { type ReactNode, useId } from "react";

type Props = { readonly title: string; readonly actions?: ReactNode; readonly children: ReactNode };

/** A part of a page with a heading of its own. */
export function Section({ title, actions, children }: Props) {
  const id = useId();
  return (
    <Paper component="section" withBorder p="md" radius="md" aria-labelledby={id}>
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2} size="h5" id={id}>
            {title}
          </Title>
          {actions}
        </Group>
        {children}
      </Stack>
    </Paper>
  );
}
