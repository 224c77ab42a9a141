// The service worker: keeps the hashed parts of the page, says the truth when the node cannot be reached, and shows pushes of
// alarms. It never keeps an answer of the API, nor the page itself, so that nothing old is taken for live.

const parts = "parts-1"; // hashed files, which never change
const offline = "offline-__OFFLINE__"; // the page that stands in for the node, named after its content
const offlineFiles = ["/offline.html", "/offline.css", "/offline.js", "/icon.svg"];
const most = 300; // parts of a few versions

addEventListener("install", (event) => {
  const keep = async () => {
    await (await caches.open(offline)).addAll(offlineFiles);
    await skipWaiting();
  };
  event.waitUntil(keep());
});

addEventListener("activate", (event) => {
  const tidy = async () => {
    for (const name of await caches.keys()) {
      if (name !== parts && name !== offline) await caches.delete(name);
    }
    await clients.claim();
  };
  event.waitUntil(tidy());
});

addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== location.origin) return;
  if (pathname.startsWith("/assets/")) event.respondWith(part(request));
  else if (request.mode === "navigate" && !/^\/(api|metrics|prometheus)(\/|$)/.test(pathname))
    event.respondWith(page(request));
  else if (offlineFiles.includes(pathname))
    event.respondWith(fetch(request).catch(() => kept(pathname)));
});

/** A hashed file: its name says its content, so that a kept one is as good as a new one. */
async function part(request) {
  const cache = await caches.open(parts);
  const known = await cache.match(request.url);
  if (known) return known;
  const answer = await fetch(request);
  if (answer.ok) {
    const keys = await cache.keys();
    for (const old of keys.slice(0, Math.max(0, keys.length - most))) await cache.delete(old);
    await cache.put(request.url, answer.clone());
  }
  return answer;
}

/** The page comes from the node, or the offline page says that it cannot. */
async function page(request) {
  try {
    return await fetch(request);
  } catch (err) {
    return (await kept("/offline.html")) ?? Promise.reject(err);
  }
}

async function kept(name) {
  return (await caches.open(offline)).match(name);
}

// What a push says that says nothing itself. A worker cannot read what was chosen in the page, so the browser's language holds.
const pushed = {
  en: { alarm: "Alarm", advice: "Open the page to see the alarms." },
  de: { alarm: "Alarm", advice: "Öffnen Sie die Seite, um die Alarme zu sehen." },
  fr: { alarm: "Alarme", advice: "Ouvrez la page pour voir les alarmes." },
  es: { alarm: "Alarma", advice: "Abra la página para ver las alarmas." },
};

function inLanguage(texts) {
  const tags = navigator.languages.map((tag) => tag.slice(0, 2).toLowerCase());
  return texts[tags.find((tag) => Object.hasOwn(texts, tag)) ?? "en"];
}

addEventListener("push", (event) => {
  const words = inLanguage(pushed);
  let note = {};
  try {
    note = event.data.json();
  } catch {
    // A message that is none is shown all the same: the browser demands it
  }
  const { title = words.alarm, text = words.advice, time, topic = "alarms" } = note;
  const options = {
    body: text,
    tag: topic,
    renotify: true,
    icon: "/icon-192.png",
    badge: "/badge.png",
    requireInteraction: true,
  };
  const at = Date.parse(time);
  if (!Number.isNaN(at)) options.timestamp = at;
  event.waitUntil(registration.showNotification(title, options));
});

addEventListener("notificationclick", (event) => {
  event.notification.close();
  const show = async () => {
    const [open] = await clients.matchAll({ type: "window" });
    if (!open) return clients.openWindow("/alarms");
    await open.focus();
    return open.navigate("/alarms");
  };
  event.waitUntil(show());
});
