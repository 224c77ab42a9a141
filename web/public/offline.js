// Says since when the node is not reachable and what was heard last, and opens the page when the node is back.

const every = 5000;

// The words of this page by their English, in the languages of the page.
const words = {
  de: {
    "Not reachable": "Nicht erreichbar",
    "The node is not reachable": "Der Knoten ist nicht erreichbar",
    "Nothing here is live. Alarms may have opened that this page does not know of.":
      "Nichts hier ist aktuell. Es können Alarme aufgetreten sein, von denen diese Seite nichts weiß.",
    "Ask again now": "Jetzt wieder fragen",
    "What this browser heard last": "Was dieser Browser zuletzt erfuhr",
    "This browser asks again every few seconds. It does not know since when the node is away.":
      "Dieser Browser fragt alle paar Sekunden wieder. Er weiß nicht, seit wann der Knoten fort ist.",
    "This browser heard from it last at {0}, and asks again every few seconds.":
      "Dieser Browser hörte zuletzt um {0} von ihm und fragt alle paar Sekunden wieder.",
    "It said then: {0}": "Er meldete da: {0}",
  },
  fr: {
    "Not reachable": "Injoignable",
    "The node is not reachable": "Le nœud est injoignable",
    "Nothing here is live. Alarms may have opened that this page does not know of.":
      "Rien ici n'est actuel. Des alarmes ont pu apparaître sans que cette page le sache.",
    "Ask again now": "Redemander maintenant",
    "What this browser heard last": "Ce que ce navigateur a appris en dernier",
    "This browser asks again every few seconds. It does not know since when the node is away.":
      "Ce navigateur redemande toutes les quelques secondes. Il ne sait pas depuis quand le nœud est absent.",
    "This browser heard from it last at {0}, and asks again every few seconds.":
      "Ce navigateur en a eu des nouvelles pour la dernière fois le {0} et redemande toutes les quelques secondes.",
    "It said then: {0}": "Il disait alors : {0}",
  },
  es: {
    "Not reachable": "Inaccesible",
    "The node is not reachable": "No se puede acceder al nodo",
    "Nothing here is live. Alarms may have opened that this page does not know of.":
      "Nada de esto es actual. Puede haber alarmas que esta página desconoce.",
    "Ask again now": "Preguntar de nuevo",
    "What this browser heard last": "Lo último que supo este navegador",
    "This browser asks again every few seconds. It does not know since when the node is away.":
      "Este navegador pregunta de nuevo cada pocos segundos. No sabe desde cuándo no está el nodo.",
    "This browser heard from it last at {0}, and asks again every few seconds.":
      "Este navegador supo de él por última vez el {0} y pregunta de nuevo cada pocos segundos.",
    "It said then: {0}": "Entonces dijo: {0}",
  },
};

/** The language that was chosen in this browser, else the first that it prefers and that this page speaks. */
function chosen() {
  const known = (tag) => tag === "en" || Object.hasOwn(words, tag);
  const kept = choice();
  if (known(kept)) return kept;
  return navigator.languages.map((tag) => tag.slice(0, 2).toLowerCase()).find(known) ?? "en";
}

/** What was chosen in this browser; "" for nothing, or if it keeps nothing. */
function choice() {
  try {
    return localStorage.getItem("voltbus-language") ?? "";
  } catch {
    return "";
  }
}

const language = chosen();
const say = (english, value) => (words[language]?.[english] ?? english).replace("{0}", () => value);
const element = (id) => document.getElementById(id);

/** What the page kept when it heard from the node; undefined for nothing. */
function last() {
  try {
    const kept = JSON.parse(localStorage.getItem("voltbus:last") ?? "null");
    return kept && Number.isFinite(kept.at) ? kept : undefined;
  } catch {
    return undefined;
  }
}

const moment = (at) =>
  new Date(at).toLocaleString(language === "en" ? undefined : language, {
    dateStyle: "medium",
    timeStyle: "medium",
  });

function show() {
  document.documentElement.lang = language;
  document.title = `${say("Not reachable")} · Voltbus`;
  for (const e of document.querySelectorAll(".said")) e.textContent = say(e.textContent);
  const kept = last();
  if (!kept) {
    element("since").textContent = say(
      "This browser asks again every few seconds. It does not know since when the node is away.",
    );
    return;
  }
  element("since").textContent = say(
    "This browser heard from it last at {0}, and asks again every few seconds.",
    moment(kept.at),
  );
  element("when").textContent = moment(kept.at);
  element("when").dateTime = new Date(kept.at).toISOString();
  element("sentence").textContent = say("It said then: {0}", kept.sentence);
  for (const text of kept.alarms ?? []) {
    const item = document.createElement("li");
    item.textContent = text;
    element("alarms").append(item);
  }
  element("last").hidden = false;
}

async function ask() {
  try {
    await fetch("/api/v1/health", { cache: "no-store", signal: AbortSignal.timeout(every) });
    location.reload();
  } catch {
    // It is still away
  }
}

show();
setInterval(ask, every);
element("again").addEventListener("click", ask);
