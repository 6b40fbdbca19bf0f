import IconCircle from "icon:circle";
import IconCircleCheck from "icon:circle-check";
import { Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { useMe } from "../../api/me.ts";
import { read } from "../../api/read.ts";
import { paths } from "../../paths.ts";
import { TextLink } from "../../ui/link.tsx";
import { Section } from "../../ui/page.tsx";
import classes from "./overview.module.css";

type Step = {
  readonly name: "products" | "connection" | "expose" | "sandbox" | "endpoint" | "doctor";
  readonly to: string;
  readonly isDone?: boolean;
};

/** Before the first order: what leads to it, for a merchant, and for a partner's developer. */
export function FirstSteps() {
  const { t } = useTranslation();
  const { grants } = useMe();
  const [merchantId] = grants.flatMap((grant) => (grant.role === "merchant" ? grant.merchantIds : []));
  const ofMerchant = useStepsOfMerchant(merchantId);
  const isPartner = grants.some(({ role }) => role === "partner");
  const ofPartner: readonly Step[] = [
    { name: "sandbox", to: paths.sandbox() },
    { name: "endpoint", to: paths.endpoints() },
    { name: "doctor", to: paths.signatureDoctor() },
  ];
  const steps = merchantId !== undefined ? ofMerchant : isPartner ? ofPartner : [];
  if (steps.length === 0) return null;
  return (
    <Section title={t("overview.firstSteps")}>
      <ol className={classes["tasks"]}>
        {steps.map(({ name, to, isDone = false }) => (
          <li key={name} className={classes["step"]}>
            {isDone ? (
              <IconCircleCheck
                size={18}
                color="var(--tone-success-bar)"
                role="img"
                aria-label={t("overview.done")}
              />
            ) : (
              <IconCircle size={18} color="var(--tone-neutral-bar)" aria-hidden />
            )}
            <div>
              <TextLink to={to} size="sm" fw={500}>
                {t(`overview.steps.${name}.title`)}
              </TextLink>
              <Text size="sm" c="dimmed">
                {t(`overview.steps.${name}.about`)}
              </Text>
            </div>
          </li>
        ))}
      </ol>
    </Section>
  );
}

function useStepsOfMerchant(merchantId: string | undefined): readonly Step[] {
  const isEnabled = merchantId !== undefined;
  const products = useQuery({
    ...read("/api/merchants/{id}/products", {
      params: { path: { id: merchantId ?? "" }, query: { limit: 1 } },
    }),
    enabled: isEnabled,
  });
  const connections = useQuery({
    ...read("/api/connections", { params: { query: { merchantId: merchantId ?? "", limit: 1 } } }),
    enabled: isEnabled,
  });
  if (merchantId === undefined) return [];
  const hasSome = (of: typeof products | typeof connections) => (of.data?.data.length ?? 0) > 0;
  return [
    { name: "products", to: paths.merchantProducts(merchantId), isDone: hasSome(products) },
    { name: "connection", to: paths.merchant(merchantId), isDone: hasSome(connections) },
    { name: "expose", to: paths.merchantProducts(merchantId) },
  ];
}
