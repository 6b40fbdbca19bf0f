import IconArrowBackUp from "icon:arrow-back-up";
import IconDots from "icon:dots";
import IconMinus from "icon:minus";
import IconPlus from "icon:plus";
import IconPrinter from "icon:printer";
import IconVolume from "icon:volume";
import IconVolumeOff from "icon:volume-off";
import { ActionIcon, Button, Group, Kbd, Menu, Modal, Stack, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { type FormEvent, useEffect, useEffectEvent, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import type { Work } from "../../api/schema.d.ts";
import { paths } from "../../paths.ts";
import { readStored, store } from "../../stored.ts";
import { formatNumber, formatWeight } from "../../text/format.ts";
import { AddressLines } from "../../ui/address.tsx";
import { ButtonLink, TextLink } from "../../ui/link.tsx";
import { useSetFilters } from "../../ui/list/filters.tsx";
import { Crumbs, Page, Section } from "../../ui/page.tsx";
import { Feedback, type FeedbackTone } from "../../ui/scan/feedback.tsx";
import { readScan } from "../../ui/scan/read-scan.ts";
import { ScanField } from "../../ui/scan/scan-field.tsx";
import { Pill } from "../../ui/status-badge.tsx";
import {
  answersOf,
  carriersOf,
  goodsGrams,
  isNameOfCarrier,
  linesToPack,
  type OpenPacking,
  openUnits,
  type Packing,
  unitsInBox,
} from "./packing.ts";
import { pickListQuery } from "./queries.ts";
import { PackingSheet, ReturnSheet } from "./slips-page.tsx";
import classes from "./station.module.css";
import { nameOf, useAnswerText, useMessageText, useQuestionText } from "./station-words.ts";
import { type Station, useStation } from "./use-station.ts";

const route = getRouteApi("/signed-in/work/pack");

/** The packing table: everything by scanner, and everything by buttons too. */
export function StationPage() {
  const { t } = useTranslation();
  const { pickListId, scan: first } = route.useSearch();
  const setFilters = useSetFilters();
  const station = useStation({ first, onPickList: (id) => setFilters({ pickListId: id }) });
  const { packing, message, unread, number, dropped, isBusy, slip } = station;
  useEffect(() => {
    if (first !== undefined) setFilters({ scan: undefined });
  }, [first, setFilters]);
  useEscape(() => station.command("undo"));
  usePrinted(station);
  const textOf = useMessageText();
  const said = message === null ? null : textOf(message);
  const overlooked = unread.map(textOf).findLast(({ tone, text }) => tone === "bad" && text !== said?.text);
  const [isMuted, toggleSound] = useTone(said?.tone, number);
  return (
    <Page
      title={t("station.title")}
      crumbs={
        pickListId !== undefined && <Crumbs of={[[t("station.pickList"), paths.pickList(pickListId)]]} />
      }
      actions={
        <Group gap="xs" className={classes["head"] ?? ""}>
          <ButtonLink to={paths.commands()} size="sm" variant="default">
            {t("station.commands")}
          </ButtonLink>
          <ActionIcon
            size={44}
            variant="default"
            aria-label={isMuted ? t("station.soundOn") : t("station.soundOff")}
            onClick={toggleSound}
          >
            {isMuted ? <IconVolumeOff size={20} /> : <IconVolume size={20} />}
          </ActionIcon>
        </Group>
      }
    >
      <div className={classes["table"]}>
        <div className={classes["main"]}>
          <ScanField
            label={t(`station.scan.${isUnitNext(packing) ? "items" : packing.step}`)}
            round={number}
            isBusy={isBusy}
            onScan={(code, scan = readScan(code)) => station.scan(scan)}
          />
          {said === null ? (
            <Text c="dimmed">{t("station.start")}</Text>
          ) : (
            <Feedback tone={said.tone} text={said.text} number={number}>
              {said.detail !== undefined && <Text size="sm">{said.detail}</Text>}
              {dropped > 0 && <Text size="sm">{t("station.dropped", { count: dropped })}</Text>}
              {said.action !== undefined && (
                <Button mt={6} size="sm" variant="white" onClick={() => said.action?.run(station)}>
                  {said.action.label}
                </Button>
              )}
            </Feedback>
          )}
          {overlooked !== undefined && (
            <Text fw={600} c="var(--mantine-color-error)">
              {t("station.before", { text: overlooked.text })}
            </Text>
          )}
          {packing.step !== "order" && (
            <>
              <Asked packing={packing} station={station} />
              <Goods packing={packing} station={station} />
            </>
          )}
          {packing.step === "order" && station.drafts.length > 0 && <Begun station={station} />}
        </div>
        <div className={classes["side"]}>
          {packing.step !== "order" && <OpenOrder packing={packing} station={station} />}
          {pickListId !== undefined && <WaitingBoxes pickListId={pickListId} station={station} />}
        </div>
      </div>
      {slip !== null && (
        <div className={classes["paper"]} data-papers>
          <PackingSheet slip={slip} />
          <ReturnSheet slip={slip} />
        </div>
      )}
    </Page>
  );
}

/** Whatever the step is, the next scan is a unit that is taken out, or is damaged. */
const isUnitNext = (packing: Packing): boolean => packing.step !== "order" && packing.next !== "put-in";

/** Escape takes the last step back, as the button says. In a dialog it closes that. */
function useEscape(undo: () => void): void {
  const onEscape = useEffectEvent(undo);
  useEffect(() => {
    // The dialog that the key closes can be gone before this page hears of the key.
    let isOfDialog = false;
    const note = () => {
      isOfDialog = document.querySelector("[role=dialog], [role=menu], dialog[open]") !== null;
    };
    const listen = (event: KeyboardEvent) => {
      const target = event.target instanceof Element ? event.target : null;
      if (event.key !== "Escape" || event.defaultPrevented || isOfDialog) return;
      // What is being typed is given up first.
      if (target instanceof HTMLInputElement && target.value !== "") target.value = "";
      else onEscape();
    };
    window.addEventListener("keydown", note, { capture: true });
    window.addEventListener("keydown", listen);
    return () => {
      window.removeEventListener("keydown", note, { capture: true });
      window.removeEventListener("keydown", listen);
    };
  }, []);
}

/** Prints the slips in place: the order stays on the table. */
function usePrinted({ slip, isPrinted }: Station): void {
  const done = useEffectEvent(isPrinted);
  useEffect(() => {
    if (slip === null) return;
    window.print(); // Returns when the person has printed, or closed the dialog of the browser.
    done();
  }, [slip]);
}

const MUTED = "packing-muted";
/** Hertz and milliseconds of each tone. Right is high and short, wrong is low and twice: different also in a loud hall. */
const TONES: Readonly<Record<FeedbackTone, readonly (readonly [hertz: number, ms: number])[]>> = {
  good: [[988, 70]],
  warning: [
    [587, 120],
    [587, 120],
  ],
  bad: [
    [196, 180],
    [165, 260],
  ],
};

/** A short tone for each message, which the person can mute on this device. */
function useTone(tone: FeedbackTone | undefined, number: number): readonly [boolean, () => void] {
  const [isMuted, setMuted] = useState(readStored(MUTED) === "true");
  const audio = useRef<AudioContext | null>(null);
  const play = useEffectEvent(() => {
    if (tone === undefined || isMuted || !("AudioContext" in window)) return;
    audio.current ??= new AudioContext();
    const context = audio.current;
    let at = context.currentTime;
    for (const [hertz, ms] of TONES[tone]) {
      const sound = context.createOscillator();
      const volume = context.createGain();
      sound.frequency.value = hertz;
      volume.gain.setValueAtTime(0.2, at);
      volume.gain.exponentialRampToValueAtTime(0.001, at + ms / 1_000);
      sound.connect(volume).connect(context.destination);
      sound.start(at);
      sound.stop(at + ms / 1_000);
      at += ms / 1_000 + 0.04;
    }
  });
  useEffect(() => {
    if (number > 0) play();
  }, [number]);
  useEffect(() => () => void audio.current?.close(), []);
  const toggle = () => {
    store(MUTED, String(!isMuted));
    setMuted(!isMuted);
  };
  return [isMuted, toggle];
}

type Props = { readonly packing: OpenPacking; readonly station: Station };

/** A question of the table, or the carriers: numbered, so that keys and printed barcodes choose too. */
function Asked({ packing, station }: Props) {
  const { t } = useTranslation();
  const { question, step } = packing;
  const answerText = useAnswerText(packing);
  const questionText = useQuestionText(packing);
  if (question !== null && question.about !== "carrier")
    return (
      <Choices
        title={questionText(question)}
        names={[...answersOf(packing, question).map(answerText), t("station.back")]}
        onChoose={station.answer}
      />
    );
  if (step !== "carrier") return null;
  const carriers = carriersOf(packing);
  const { carrier } = packing;
  return (
    <>
      <Choices
        title={carrier === "" ? t("station.enterWithoutCarrier") : t("station.enterKeeps", { carrier })}
        names={[...carriers, t("station.otherCarrier")]}
        onChoose={(number) => station.scan(readScan(String(number)))}
      />
      {question !== null && <OtherCarrier packing={packing} station={station} />}
    </>
  );
}

type ChoicesProps = {
  readonly title: string;
  readonly names: readonly string[];
  onChoose(number: number): void;
};

const Choices = ({ title, names, onChoose }: ChoicesProps) => (
  <Section title={title}>
    <div className={classes["choices"]}>
      {names.map((name, index) => (
        <Button
          key={name}
          variant="default"
          justify="flex-start"
          leftSection={<Kbd>{index + 1}</Kbd>}
          onClick={() => onChoose(index + 1)}
        >
          {name}
        </Button>
      ))}
    </div>
  </Section>
);

/** A carrier that is in no list is typed; a barcode that was scanned here is no name. */
function OtherCarrier({ packing, station }: Props) {
  const { t } = useTranslation();
  const [name, setName] = useState("");
  const [isWrong, setWrong] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isNameOfCarrier(packing, name.trim())) return station.chooseCarrier(name.trim());
    setWrong(true);
    field.current?.select(); // What is scanned or typed next takes its place.
  };
  return (
    <Modal
      opened
      onClose={() => station.ask(null)}
      title={t("station.otherCarrier")}
      closeButtonProps={{ "aria-label": t("ui.close") }}
    >
      <form onSubmit={submit} noValidate>
        <Stack>
          <TextInput
            ref={field}
            data-autofocus
            label={t("order.carrier")}
            maxLength={100}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            error={isWrong && t("station.notACarrierName")}
          />
          <Group justify="flex-end">
            <Button type="submit">{t("station.useCarrier")}</Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

/** The goods of the order, and how much of them is in the box. */
function Goods({ packing, station }: Props) {
  return (
    <ul className={classes["lines"]}>
      {linesToPack(packing.order).map((line) => (
        <GoodsLine key={line.id} line={line} packing={packing} station={station} />
      ))}
    </ul>
  );
}

function GoodsLine({ line, packing, station }: Props & { line: OpenPacking["order"]["lines"][number] }) {
  const { t } = useTranslation();
  const { id, name: product, sku, barcode, quantity } = line;
  const count = packing.counts[id] ?? 0;
  const missing = packing.missing[id] ?? 0;
  return (
    <li
      className={classes["line"]}
      data-done={count === quantity}
      data-missing={missing > 0}
      aria-label={product}
    >
      <div>
        <span className={classes["name"]} title={product} dir="auto">
          {product}
        </span>
        <Text size="xs" c="dimmed" ff="monospace" truncate>
          {[sku, barcode].filter(Boolean).join(" · ")}
        </Text>
        {missing > 0 && <Pill tone="warning">{t("station.missingUnits", { count: missing })}</Pill>}
      </div>
      <div className={classes["count"]}>
        {formatNumber(count)}
        <small> / {formatNumber(quantity)}</small>
      </div>
      <Group gap={6} wrap="nowrap">
        <ActionIcon
          size={44}
          variant="default"
          disabled={count === 0}
          aria-label={t("station.takeOne", { product })}
          onClick={() => station.count(id, -1)}
        >
          <IconMinus size={20} />
        </ActionIcon>
        <ActionIcon
          size={44}
          variant="default"
          disabled={count === quantity}
          aria-label={t("station.countOne", { product })}
          onClick={() => station.count(id, 1)}
        >
          <IconPlus size={20} />
        </ActionIcon>
        <Menu position="bottom-end">
          <Menu.Target>
            <ActionIcon size={44} variant="default" aria-label={t("station.more", { product })}>
              <IconDots size={20} />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item
              disabled={openUnits(packing, line) === 0}
              onClick={() => station.ask({ about: "missing", lineId: id })}
            >
              {t("station.missing")}
            </Menu.Item>
            <Menu.Item onClick={() => station.ask({ about: "damaged", lineId: id })}>
              {t("station.damaged")}
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      </Group>
    </li>
  );
}

/** The order that lies on the table: its box, where it goes, and what can be done with it. */
function OpenOrder({ packing, station }: Props) {
  const { t } = useTranslation();
  const { order, weightGrams, carrier, step, parcels } = packing;
  const goods = goodsGrams(packing);
  return (
    <Section title={nameOf(order)}>
      {order.pickList !== null && (
        <div className={classes["box"]}>{t("station.box", { box: formatNumber(order.pickList.box) })}</div>
      )}
      {parcels > 0 && <Pill tone="info">{t("station.parcel", { number: parcels + 1 })}</Pill>}
      <Text component="address" size="sm" style={{ fontStyle: "normal" }}>
        <AddressLines of={order.shippingAddress} />
      </Text>
      <Text size="sm" c="dimmed">
        {[
          order.merchantName,
          goods !== null && goods > 0 && t("station.goodsWeigh", { weight: formatWeight(goods) }),
          weightGrams !== null && t("station.weighs", { weight: formatWeight(weightGrams) }),
          step === "tracking" && carrier,
        ]
          .filter(Boolean)
          .join(" · ")}
      </Text>
      {order.note !== null && (
        <Text size="sm" fw={600} style={{ whiteSpace: "pre-line" }}>
          {order.note}
        </Text>
      )}
      <Stack gap={6}>
        <Button
          variant={step === "items" && unitsInBox(packing) > 0 ? "filled" : "default"}
          disabled={step !== "items" || unitsInBox(packing) === 0}
          onClick={() => station.command("close-parcel")}
        >
          {t("station.closeParcel")}
        </Button>
        <Button
          variant="default"
          leftSection={<IconArrowBackUp size={18} aria-hidden />}
          rightSection={<Kbd aria-hidden>Esc</Kbd>}
          onClick={() => station.command("undo")}
        >
          {t("station.undo")}
        </Button>
        <Button
          variant="default"
          leftSection={<IconPrinter size={18} aria-hidden />}
          onClick={() => station.command("print")}
        >
          {t("station.printSlips")}
        </Button>
        <Button variant="default" onClick={() => station.command("put-aside")}>
          {t("station.putAside")}
        </Button>
      </Stack>
    </Section>
  );
}

/** Orders that were begun here and not finished, such as those that were put aside. */
function Begun({ station }: { station: Station }) {
  const { t } = useTranslation();
  return (
    <Section title={t("station.begun")}>
      <Stack gap={6}>
        {station.drafts.slice(0, 10).map((draft) => (
          <Group key={draft.orderId} justify="space-between" wrap="nowrap">
            <Text style={{ overflowWrap: "anywhere" }}>
              {draft.name} · {t("station.unitsIn", { count: unitsInBox(draft) })}
            </Text>
            <Button
              variant="default"
              aria-label={t("station.continueOf", { order: draft.name })}
              onClick={() => station.scan(readScan(draft.orderId))}
            >
              {t("station.continue")}
            </Button>
          </Group>
        ))}
      </Stack>
    </Section>
  );
}

/** The orders of the pick list that have not shipped, with a button for those whose paper is lost. */
function WaitingBoxes({ pickListId, station }: { pickListId: string; station: Station }) {
  const { t } = useTranslation();
  const { data } = useQuery(pickListQuery(pickListId));
  if (data === undefined) return null;
  const orders: readonly Work[] = data.orders;
  return (
    <Section title={t("station.waiting", { count: orders.length })}>
      {orders.length === 0 && <Text size="sm">{t("pickList.allShipped")}</Text>}
      <Stack gap={6}>
        {orders.slice(0, 20).map(({ orderId, externalOrderId, lines, pickList, putAside }) => (
          <Group key={orderId} justify="space-between" wrap="nowrap" gap="xs">
            <Text fw={700} miw="2ch" ta="right">
              {pickList === null ? "" : formatNumber(pickList.box)}
            </Text>
            <div style={{ flex: 1, minWidth: 0 }}>
              <TextLink to={paths.order(orderId)} size="sm" style={{ overflowWrap: "anywhere" }}>
                {externalOrderId ?? orderId}
              </TextLink>
              <Text size="xs" c="dimmed">
                {t("station.units", { count: lines.reduce((sum, { quantity }) => sum + quantity, 0) })}
                {putAside !== null && ` · ${t(`station.aside.${putAside.reason}`)}`}
              </Text>
            </div>
            <Button
              size="compact-sm"
              variant="default"
              disabled={station.packing.step !== "order"}
              aria-label={t("station.openOf", { order: externalOrderId ?? orderId })}
              onClick={() => station.scan(readScan(orderId))}
            >
              {t("station.open")}
            </Button>
          </Group>
        ))}
      </Stack>
    </Section>
  );
}
