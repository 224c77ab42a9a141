// Says since when the node is not reachable and what was heard last, and opens the page when the node is back.

const every = 5000;
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
  new Date(at).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });

function show() {
  const kept = last();
  if (!kept) {
    element("since").textContent =
      "This browser asks again every few seconds. It does not know since when the node is away.";
    return;
  }
  element("since").textContent =
    `This browser heard from it last at ${moment(kept.at)}, and asks again every few seconds.`;
  element("when").textContent = moment(kept.at);
  element("when").dateTime = new Date(kept.at).toISOString();
  element("sentence").textContent = `It said then: ${kept.sentence}`;
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
