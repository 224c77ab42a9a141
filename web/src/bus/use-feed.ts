import { useEffect, useMemo, useState } from "preact/hooks";
import { type Api, address } from "../api";
import { Events, type Link } from "../events";
import type { BusRates, Message } from "./calls";
import { Messages } from "./messages";
import { Rates } from "./rates";

/** What the bus tells while somebody watches. */
export interface Feed {
  rates: Rates;
  messages: Messages;
  link: Link;
  /** Draws anew after a change of the messages by hand. */
  redraw(): void;
}

const calm = 250;

/** Watches the bus: the rates of all subjects, and the messages of those that a pattern selects. */
export function useFeed(api: Api, subject: string, epoch: number): Feed {
  const rates = useMemo(() => new Rates(), []);
  const messages = useMemo(() => new Messages(), []);
  const [link, setLink] = useState<Link>({ state: "connecting" });
  const [, setDrawn] = useState(0);
  const redraw = () => setDrawn((n) => n + 1);

  // Another epoch connects anew
  useEffect(() => {
    let timer = 0;
    const soon = () => {
      timer ||= window.setTimeout(() => {
        timer = 0;
        redraw();
      }, calm);
    };
    messages.clear();
    const handlers = {
      rates: (data: unknown) => {
        const told = data as BusRates;
        rates.add(told);
        messages.missed += told.hidden;
        soon();
      },
      message: (data: unknown) => {
        messages.add(data as Message);
        soon();
      },
    };
    const target = address("bus/stream", subject ? { subject } : {});
    const events = new Events(api, target, handlers, setLink);
    events.open();
    return () => {
      clearTimeout(timer);
      events.close();
    };
  }, [api, subject, epoch, rates, messages]);
  return { rates, messages, link, redraw };
}
