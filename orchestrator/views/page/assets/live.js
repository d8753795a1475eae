// Keeps the page current: one stream of server-sent events, whose fragments are morphed into the page by their ids.
// The first event after each connection holds every region whole, so an event that was missed cannot matter.
(() => {
  "use strict";
  const QUIET_MS = 25000; // the server gives a sign every 10 s
  const AGAIN_MS = 1000;
  const MOST_AGAIN_MS = 10000;
  const link = document.getElementById("link");
  const banner = document.getElementById("stale");
  const url = document.body.dataset.stream;
  let source = null;
  let signAt = Date.now(); // when the server was last heard
  let ahead = 0; // the server's clock minus ours, ms
  let again = AGAIN_MS;
  let timer = 0;

  function heard(serverNow) {
    signAt = Date.now();
    if (serverNow) ahead = serverNow - signAt;
    again = AGAIN_MS;
    show();
  }

  function morph(html) {
    const parsed = new DOMParser().parseFromString(html, "text/html");
    for (const fresh of [...parsed.body.children]) {
      const held = document.getElementById(fresh.id);
      if (held) Idiomorph.morph(held, fresh, { morphStyle: "outerHTML", callbacks: { beforeNodeMorphed, beforeAttributeUpdated } });
    }
    tick();
  }

  // The user opens and closes details, and loaded parts stay.
  function beforeAttributeUpdated(name, node) {
    return !(name === "open" && node.localName === "details");
  }
  function beforeNodeMorphed(held, fresh) {
    return !(held.dataset && held.dataset.loaded && fresh.dataset && fresh.dataset.load === held.dataset.load);
  }

  function connect() {
    clearTimeout(timer);
    if (source) source.close();
    source = new EventSource(url);
    source.addEventListener("regions", (event) => { morph(event.data); heard(0); });
    source.addEventListener("sign", (event) => heard(Number(event.data)));
    source.addEventListener("error", () => later());
  }

  function later() {
    source.close();
    clearTimeout(timer);
    timer = setTimeout(connect, again);
    again = Math.min(again * 2, MOST_AGAIN_MS);
    show("reconnecting");
    fetch(location.href, { method: "HEAD" }).then((answer) => { if (answer.status === 403) show("closed"); }, () => {});
  }

  function show(state = "live") {
    if (link.dataset.state !== state) {
      link.dataset.state = state;
      link.textContent = { live: "● live", reconnecting: "○ reconnecting …", closed: "✗ not connected" }[state];
    }
    const quiet = Date.now() - signAt > QUIET_MS;
    const lost = state === "closed" || quiet;
    if (banner.hidden === lost) {
      banner.hidden = !lost;
      const since = new Date(signAt).toLocaleTimeString();
      banner.textContent = state === "closed"
        ? `Stale since ${since}: this page may no longer read the run. Open the address that sq dash prints.`
        : `Stale since ${since}: the server does not answer. This page goes on by itself once it does.`;
    }
  }

  function length(seconds) {
    const [s, m, h] = [seconds % 60, Math.floor(seconds / 60) % 60, Math.floor(seconds / 3600)];
    const two = (number) => String(number).padStart(2, "0");
    return h ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
  }

  function tick() {
    const now = Date.now() + ahead;
    for (const one of document.querySelectorAll("time[data-since]")) {
      const long = length(Math.max(0, Math.floor((now - Number(one.dataset.since)) / 1000)));
      const text = long + (one.dataset.after ?? "");
      if (one.textContent !== text) one.textContent = text;
    }
  }

  function watch() {
    tick();
    if (Date.now() - signAt > QUIET_MS && banner.hidden) {
      show("reconnecting");
      connect();
    }
  }

  // A part of the page that is loaded when it is opened.
  async function load(details) {
    if (details.dataset.loaded || !details.open) return;
    details.dataset.loaded = "yes";
    try {
      const answer = await fetch(details.dataset.load);
      if (!answer.ok) throw new Error(String(answer.status));
      const parsed = new DOMParser().parseFromString(await answer.text(), "text/html");
      details.querySelector("[data-into]").replaceChildren(...parsed.querySelectorAll("main > table"));
    } catch {
      delete details.dataset.loaded;
      details.open = false;
    }
  }

  document.addEventListener("toggle", (event) => { if (event.target.dataset && event.target.dataset.load) load(event.target); }, true);
  if (!url) return;
  document.addEventListener("visibilitychange", () => { if (!document.hidden) connect(); });
  window.addEventListener("online", connect);
  window.addEventListener("pagehide", () => { if (source) source.close(); });
  window.addEventListener("pageshow", (event) => { if (event.persisted) connect(); });
  setInterval(watch, 1000);
  connect();
  tick();
})();
