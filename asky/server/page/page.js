"use strict";
(() => {
  const PHASES = [
    ["clarify", "Understand"], ["plan", "Plan"], ["collect", "Collect"], ["process", "Read"], ["analyze", "Compare"],
    ["evaluate", "Evaluate"], ["synthesize", "Write"], ["export", "Report"],
  ];
  const STATUS = {
    running: "in progress", interrupted: "interrupted", finished: "finished", cancelled: "stopped", failed: "failed",
  };
  const MODES = {
    local_only: "nothing leaves this machine", hybrid: "private passages stay here", cloud_allowed: "anything may leave",
  };
  const RUN_ID = /^\d{8}-\d{6}-[0-9a-f]{8}$/;
  const MAX_LOG = 500;
  const SAY_MS = 1500;
  const QUIET_MS = 150; // of what a page that is loaded again is told at once, only the last is said
  const RETRY_MS = [500, 1000, 2000, 4000, 8000];
  const get = (id) => document.getElementById(id);

  // elements

  const make = (tag, properties = {}, ...children) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
      else if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : value);
    }
    made.append(...children.filter((each) => each !== null && each !== undefined));
    return made;
  };
  const drawn = (tag, properties, ...children) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(properties)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  };
  const sentence = (text) => (text ? `${text[0].toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}` : "");
  const percent = (ratio) => `${Math.round(100 * ratio)} %`;
  const time = (text) => (text ? new Date(text).toLocaleString([], { dateStyle: "medium", timeStyle: "short" }) : "");

  // requests

  class Refused extends Error {
    constructor(status, message) {
      super(message);
      this.status = status;
    }
  }

  const request = async (method, path, body) => {
    const options = { method, headers: {}, credentials: "same-origin", cache: "no-store" };
    if (body !== undefined) {
      options.headers["content-type"] = "application/json";
      options.body = JSON.stringify(body);
    }
    let reply;
    try {
      reply = await fetch(path, options);
    } catch {
      throw new Refused(0, "The server does not answer. Is asky serve still running?");
    }
    const value = await reply.json().catch(() => ({}));
    if (reply.status === 401 && path !== "/api/login") showLogin();
    if (!reply.ok) throw new Refused(reply.status, [value.message, value.hint].map(sentence).filter(Boolean).join(" ") || `Error ${reply.status}`);
    return value;
  };

  /** Disable the button of what is sent until there is a reply, and show what went wrong. */
  const attempt = async (place, button, action) => {
    const problem = place.querySelector(".problem") || get("run").querySelector(":scope > .problem");
    problem.textContent = "";
    if (button) button.disabled = true;
    try {
      return await action();
    } catch (error) {
      problem.textContent = error.message;
      return undefined;
    } finally {
      if (button) button.disabled = false;
    }
  };

  // views

  let followed = null;

  const show = (name, title) => {
    for (const each of ["login", "home", "run"]) get(each).hidden = each !== name;
    get("logout").hidden = name === "login";
    document.title = title ? `${title} - asky` : "asky";
    closePanel();
    if (name !== "run" && followed) followed = followed.close();
    get(name).querySelector("h1").focus({ preventScroll: true });
    window.scrollTo(0, 0);
  };

  const showLogin = () => {
    show("login", "Sign in");
    get("connection").textContent = "";
    get("token").focus();
  };

  let own = null;

  const ticked = () => [...document.querySelectorAll("#own-collections input:checked")].map((each) => each.value);

  const listed = (id, sign) => get(id).value.split(sign).map((each) => each.trim()).filter(Boolean);

  /** What the question would be answered from, in words. */
  const showOwn = () => {
    const privacy = document.querySelector("[name=privacy]:checked").value;
    const named = listed("documents", "\n");
    const documents = named.length ? named : own.collections.filter((each) => ticked().includes(each.name)).map((each) => each.words);
    if (own.papers) documents.push(`your library, ${own.papers} paper${own.papers === 1 ? "" : "s"}`);
    if (own.notes && privacy !== "cloud_allowed") documents.push("your notes");
    const has = own.collections.some((each) => each.documents > 0);
    const none = has ? "No documents are used" : "No documents are kept yet: asky setup, or asky corpus add with the name of a folder, adds some on this server's machine";
    const web = privacy === "local_only" ? "The web is not searched"
      : own.services.length ? `The web is searched with ${own.services.join(", ")}`
        : "No search service is set up: asky setup turns on those that need no key";
    get("own-words").textContent = `${sentence(documents.length ? `It answers from ${documents.join("; ")}` : none)} ${sentence(web)}`;
    for (const each of document.querySelectorAll("#own-collections input")) each.disabled = named.length > 0;
  };

  const loadOwn = async () => {
    own = await attempt(get("home"), null, () => request("GET", "/api/sources"));
    get("own").hidden = !own;
    if (!own) return;
    const before = new Map([...document.querySelectorAll("#own-collections input")].map((each) => [each.value, each.checked]));
    get("own-collections").replaceChildren(...own.collections.filter((each) => each.documents > 0).map((each) =>
      make("label", { class: "choice" }, make("input", { type: "checkbox", value: each.name, checked: before.get(each.name) ?? each.name === own.default, onchange: showOwn }),
        make("span", { dir: "auto" }, sentence(each.words)))));
    showOwn();
  };

  const showHome = async () => {
    show("home");
    loadOwn();
    const found = await attempt(get("home"), null, () => request("GET", "/api/research?limit=100"));
    if (!found) return;
    get("earlier-none").hidden = found.sessions.length > 0;
    get("earlier").replaceChildren(...found.sessions.map((each) => make("li", {},
      make("a", { href: `#${each.session_id}`, dir: "auto" }, each.query),
      make("p", { class: "soft" }, chip(each.status), ` ${time(each.started_at)}`))));
  };

  const chip = (status) => make("span", { class: `chip ${status}` }, STATUS[status] || status);

  const route = () => {
    const name = decodeURIComponent(location.hash.slice(1));
    if (RUN_ID.test(name)) showRun(name);
    else showHome();
  };

  // one run

  const showRun = async (id) => {
    if (followed && followed.id === id) return;
    if (followed) followed = followed.close();
    clearRun();
    show("run", "Research");
    const status = await attempt(get("run"), null, () => request("GET", `/api/research/${id}/status`));
    if (!status || location.hash.slice(1) !== id) return;
    document.title = "Research - asky";
    get("byline").replaceChildren(...[time(status.started_at), MODES[status.privacy_mode], status.domain]
      .filter(Boolean).flatMap((each, n) => (n ? [" · ", each] : [each])));
    followed = follow(id);
    showStatus(status);
    if (status.status !== "running") await showOutcome(id, status);
  };

  const clearRun = () => {
    for (const id of ["ask", "clarification", "answer", "saturation", "stop", "resume", "steer", "draft-box", "plan-box"]) get(id).hidden = true;
    for (const id of ["phases", "numbers", "chart", "sources", "log", "draft", "answer-text", "downloads", "verdicts", "cited", "warnings", "plan"]) get(id).replaceChildren();
    for (const id of ["now", "byline", "reason", "told", "sources-count", "outcome"]) get(id).textContent = "";
    get("run").querySelector("h1").textContent = "";
    get("run").querySelector(":scope > .problem").textContent = "";
    get("work").hidden = false;
  };

  const showStatus = (status) => {
    const isRunning = status.status === "running";
    if (status.query) {
      get("run").querySelector("h1").textContent = status.query;
      document.title = `${status.query} - asky`;
    }
    get("stop").hidden = !isRunning;
    get("steer").hidden = !isRunning;
    get("resume").hidden = !["interrupted", "cancelled", "failed"].includes(status.status);
    showNumbers(status.sources_queried, status.entities_found, status.facts_found);
    showQuestions(status.waits_for);
    get("work-title").textContent = isRunning ? "How far it is" : "How it went";
    if (status.status === "finished") showPhase("finished");
    if (status.stop_reason) get("reason").textContent = `Why it stopped: ${sentence(status.stop_reason)}`;
  };

  const showQuestions = (waits) => {
    const approval = waits && waits.approval;
    const question = waits && waits.question;
    const isNew = (approval && get("ask").hidden) || (question && get("clarification").hidden);
    get("ask").hidden = !approval;
    get("clarification").hidden = !question;
    if (approval) {
      get("ask").dataset.token = approval.token;
      get("ask-reason").textContent = sentence(approval.reason);
      get("ask-queries").replaceChildren(...approval.queries.map((each) => make("li", { dir: "auto" }, each)));
      get("ask-services").textContent = `It would go to ${approval.services.join(", ") || "the web"}.`;
    }
    if (question) get("clarification-question").textContent = question;
    if (isNew) {
      say(approval ? "May this be sent? Your decision is needed." : "A question for you: your answer is needed.", true);
      const active = document.activeElement;
      if (!active || !["INPUT", "TEXTAREA"].includes(active.tagName)) get(approval ? "ask-title" : "clarification-title").focus();
    }
  };

  const showNumbers = (sources, entities, facts) => {
    const known = [["Sources asked", sources], ["Things named", entities], ["Facts", facts]].filter((each) => each[1] !== undefined);
    get("numbers").replaceChildren(...known.map(([name, value]) =>
      make("div", {}, make("dt", {}, name), make("dd", {}, String(value)))));
  };

  const showPhase = (phase) => {
    const found = PHASES.findIndex((each) => each[0] === phase);
    const place = phase === "finished" && get("phases").childElementCount ? PHASES.length : found;
    if (place < 0) return;
    get("phases").replaceChildren(...PHASES.map(([, label], n) =>
      make("li", { class: n < place ? "done" : null, "aria-current": n === place ? "step" : null }, label)));
  };

  /** Bars of the share of new items in each cycle, with the numbers as text for who does not see them. */
  const showChart = (cycles) => {
    const [width, height, left, base] = [360, 120, 48, 100];
    const step = Math.min(40, (width - left) / Math.max(cycles.length, 1));
    const bars = cycles.map((each, n) => {
      const tall = Math.max(1, each.novelty * (base - 10));
      const bar = drawn("rect", { x: left + n * step + step * 0.15, y: base - tall, width: step * 0.7, height: tall, rx: 1.5 });
      bar.append(drawn("title", {}, `Cycle ${each.cycle}: ${percent(each.novelty)}`));
      return bar;
    });
    const every = Math.ceil(cycles.length / 10);
    const names = cycles.filter((_, n) => n % every === 0).map((each, n) =>
      drawn("text", { x: left + n * every * step + step / 2, y: base + 15, "text-anchor": "middle" }, String(each.cycle)));
    const lines = [[10, "100 %"], [55, "50 %"], [base, "0"]].flatMap(([y, name]) => [
      drawn("line", { x1: left, y1: y, x2: width, y2: y }),
      drawn("text", { x: left - 6, y: y + 4, "text-anchor": "end" }, name)]);
    const label = `New items per cycle: ${cycles.map((each) => percent(each.novelty)).join(", ")}`;
    get("chart").replaceChildren(drawn("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label }, ...lines, ...bars, ...names));
    get("saturation").hidden = cycles.length === 0;
    const last = cycles[cycles.length - 1];
    if (last) get("reason").textContent = `Cycle ${last.cycle}: ${sentence(last.reason)}`;
  };

  const say = (() => {
    let [timer, waiting, last, since] = [null, "", 0, 0];
    const now = () => {
      [timer, last] = [null, Date.now()];
      get("now").textContent = waiting;
    };
    return (text, isUrgent = false) => {
      waiting = text;
      clearTimeout(timer);
      if (isUrgent) {
        now();
        return;
      }
      const present = Date.now();
      if (timer === null) since = present;
      timer = setTimeout(now, Math.max(last + SAY_MS, Math.min(present + QUIET_MS, since + SAY_MS)) - present);
    };
  })();

  /** Follow a run until it ends; a lost connection goes on after the last message. */
  const follow = (id) => {
    const state = { seq: 0, cycles: [], sources: new Map(), draft: "", tries: 0, isOver: false, isLive: false };
    let [socket, timer, checking] = [null, null, null];

    const check = () => {
      clearTimeout(checking);
      checking = setTimeout(async () => {
        const status = await request("GET", `/api/research/${id}/status`).catch(() => null);
        if (status && !state.isOver) showStatus(status);
      }, 100);
    };

    const note = (event) => {
      if (event.event === "phase_started") {
        showPhase(event.phase);
        showNumbers(event.sources_queried, event.entities_found, event.facts_found);
      } else if (event.event === "research_planned") {
        get("plan").replaceChildren(...event.sub_questions.map((each) => make("li", { dir: "auto" }, each)));
        get("plan-box").hidden = false;
        check();
      } else if (event.event === "cycle_evaluated") {
        state.cycles = [...state.cycles.filter((each) => each.cycle !== event.cycle), event];
        showChart(state.cycles);
      } else if (event.event === "page_read") addSource(event.url, event.verdict);
      else if (event.event === "text_streamed") state.draft += event.text;
      else if (event.event === "text_discarded") state.draft = "";
      else if (/^(approval|clarification)_/.test(event.event)) check();
    };

    const addSource = (url, verdict) => {
      const text = `${verdict}`;
      const known = state.sources.get(url);
      if (known) known.textContent = text;
      else {
        const shown = make("span", { class: "soft" }, text);
        state.sources.set(url, shown);
        get("sources").append(make("li", {}, link(url, url), " ", shown));
      }
      get("sources-count").textContent = `(${state.sources.size})`;
    };

    const showDraft = (() => {
      let isWaiting = false;
      return () => {
        if (isWaiting) return;
        isWaiting = true;
        setTimeout(() => {
          isWaiting = false;
          get("draft-box").hidden = !state.draft || state.isOver;
          get("draft").replaceChildren(...written(state.draft, null));
        }, 250);
      };
    })();

    const receive = (message) => {
      if (message.seq) state.seq = message.seq;
      if (message.type === "progress") {
        state.tries = 0;
        note(message.event);
        if (message.event.event.startsWith("text_")) showDraft();
        else if (message.event.message) {
          const log = get("log");
          log.append(make("li", { value: message.seq }, message.message));
          if (log.childElementCount > MAX_LOG) log.firstElementChild.remove();
          say(message.message);
        }
      } else end(message);
    };

    const end = async (message) => {
      state.isOver = true;
      get("connection").textContent = "";
      get("draft-box").hidden = true;
      showQuestions(null);
      if (message.type === "error" && !message.session_id) return;
      const status = await request("GET", `/api/research/${id}/status`).catch(() => null);
      if (!status || followed === null || followed.id !== id) return;
      showStatus(status);
      await showOutcome(id, status, true);
    };

    const connect = () => {
      const scheme = location.protocol === "https:" ? "wss" : "ws";
      socket = new WebSocket(`${scheme}://${location.host}/ws/research/${id}?after=${state.seq}`);
      socket.onopen = () => {
        get("connection").textContent = "";
        check();
      };
      socket.onmessage = (event) => receive(JSON.parse(event.data));
      socket.onclose = () => {
        if (state.isOver) return;
        get("connection").textContent = "Connection lost; trying again …";
        timer = setTimeout(connect, RETRY_MS[Math.min(state.tries, RETRY_MS.length - 1)]);
        state.tries += 1;
        if (state.tries === 3) request("GET", `/api/research/${id}/status`).catch(() => null); // it may be the sign-in
      };
    };

    connect();
    return {
      id,
      close() {
        state.isOver = true;
        clearTimeout(timer);
        clearTimeout(checking);
        get("connection").textContent = "";
        socket.close();
        return null;
      },
    };
  };

  const showOutcome = async (id, status, isNew = false) => {
    const said = { finished: "Finished.", cancelled: "Stopped.", interrupted: "It was interrupted and can go on.", failed: "It failed." };
    const problem = status.error ? ` ${sentence(status.error.message)}` : "";
    say(`${said[status.status] || status.status}${problem}`, true);
    const found = await request("GET", `/api/research/${id}/result`).catch(() => null);
    if (!found || !found.result || location.hash.slice(1) !== id) return;
    const answer = found.result;
    get("answer").hidden = false;
    get("answer-text").replaceChildren(...written(answer.answer, (n) => cite(id, n)));
    get("outcome").replaceChildren(chip(status.status), ` ${sentence(status.stop_reason || "")}`);
    get("warnings").replaceChildren(...(answer.warnings || []).map((each) => make("li", { dir: "auto" }, sentence(each))));
    get("downloads").replaceChildren("As a file: ", ...["html", "md", "pdf", "json"].flatMap((form, n) => [n ? ", " : "",
      make("a", { href: `/api/research/${id}/report?format=${form}`, target: "_blank", rel: "noopener" },
        { html: "web page", md: "Markdown", pdf: "PDF", json: "data" }[form])]));
    showVerdicts(answer.claims || []);
    get("cited").replaceChildren(...(answer.citations.length ? [make("h3", {}, "Cited sources")] : []),
      ...answer.citations.map((each) => make("div", { class: "source" }, cite(id, each.n), make("p", { dir: "auto" },
        each.url ? link(each.url, each.title) : each.title, each.page ? `, page ${each.page_label || each.page}` : "",
        each.section && each.section !== each.title ? make("span", { class: "soft" }, ` ${each.section}`) : null))));
    if (isNew && document.activeElement === document.body) get("answer-title").focus();
  };

  const showVerdicts = (claims) => {
    const weak = claims.filter((each) => !["supported"].includes(each.verdict));
    if (!claims.length) return;
    const summary = make("p", { class: "soft" }, `${claims.length - weak.length} of ${claims.length} statements are supported by the passages they cite.`);
    const list = make("ul", {}, ...weak.map((each) => make("li", { dir: "auto" }, chip(each.verdict), ` ${each.text}`)));
    get("verdicts").replaceChildren(summary, ...(weak.length ? [make("details", {}, make("summary", {}, `The other ${weak.length}`), list)] : []));
  };

  // passages

  let opener = null;

  const cite = (id, n) => make("button", {
    type: "button", class: "cite", "aria-expanded": "false", "aria-controls": "panel", "aria-label": `Passage ${n}`,
    onclick: (event) => openPassage(event.currentTarget, id, n),
  }, String(n));

  const openPassage = async (button, id, n) => {
    if (button === opener) {
      closePanel();
      return;
    }
    const found = await attempt(get("run"), null, () => request("GET", `/api/research/${id}/why/${n}?context=600`));
    if (!found) return;
    if (opener) opener.setAttribute("aria-expanded", "false");
    opener = button;
    opener.setAttribute("aria-expanded", "true");
    const { citation, checks } = found;
    const place = [citation.section, citation.page ? `page ${citation.page_label || citation.page}` : null].filter(Boolean).join(", ");
    const intact = checks.quote && checks.sha256;
    const now = { same: "The source is still as it was read.", changed: "The source has changed since.", modified: "The file has been modified since.",
      missing: "The file is not there any more.", removed: "The source has been removed from asky.", unreadable: "The source could not be read again." };
    get("panel-title").textContent = `Passage ${n}`;
    get("panel-content").replaceChildren(
      make("p", { dir: "auto" }, make("b", {}, citation.url ? link(citation.url, citation.title) : citation.title)),
      place ? make("p", { class: "soft" }, place) : "",
      make("div", { class: "context", dir: "auto" }, found.before, make("mark", {}, found.passage), found.after),
      make("p", { class: "soft" }, make("span", { class: `chip ${intact ? "supported" : "unsupported"}` }, intact ? "as quoted" : "not as quoted"), ` ${now[found.source_now] || ""}`));
    get("panel").hidden = false;
    document.body.classList.add("reading");
    get("panel").scrollTop = 0;
    get("panel").focus({ preventScroll: true });
    get("panel-content").querySelector("mark").scrollIntoView({ block: "nearest" });
  };

  const closePanel = () => {
    if (get("panel").hidden) return;
    get("panel").hidden = true;
    document.body.classList.remove("reading");
    const button = opener;
    opener = null;
    if (button) {
      button.setAttribute("aria-expanded", "false");
      button.focus({ preventScroll: true });
    }
  };

  // Markdown, as far as answers have it: nodes are made one by one, so that no text can become markup

  const link = (url, text) => (/^https?:\/\//i.test(url) ? make("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, text) : document.createTextNode(text));

  const INLINE = /(`+)(.+?)\1|\*\*(?=\S)(.+?\S)\*\*|(?<![\w*])[*_](?=\S)([^*_]+?\S?)[*_](?![\w*])|\[(\d{1,4}(?:\s*,\s*\d{1,4})*)\](?!\()|\[([^\]]+)\]\((https?:\/\/[^\s)]+)\)/g;

  const inline = (text, citing) => {
    const nodes = [];
    let place = 0;
    for (const found of text.matchAll(INLINE)) {
      nodes.push(text.slice(place, found.index));
      place = found.index + found[0].length;
      const [whole, , code, strong, em, numbers, label, url] = found;
      if (code !== undefined) nodes.push(make("code", {}, code));
      else if (strong !== undefined) nodes.push(make("strong", {}, ...inline(strong, citing)));
      else if (em !== undefined) nodes.push(make("em", {}, ...inline(em, citing)));
      else if (numbers !== undefined && citing && typeof nodes[nodes.length - 1] === "string") {
        nodes.push(nodes.pop().replace(/ $/, ""), ...numbers.split(",").map((n) => citing(Number(n))));
      } else if (numbers !== undefined) nodes.push(...(citing ? numbers.split(",").map((n) => citing(Number(n))) : [whole]));
      else nodes.push(link(url, label));
    }
    return [...nodes, text.slice(place)];
  };

  const cells = (line) => line.trim().replace(/^\||\|$/g, "").split("|").map((each) => each.trim());

  const BLOCKS = [
    [/^```/, (lines) => {
      lines.shift();
      const inside = [];
      while (lines.length && !/^```/.test(lines[0])) inside.push(lines.shift());
      lines.shift();
      return make("pre", { tabindex: "0" }, make("code", {}, inside.join("\n")));
    }],
    [/^#{1,6} /, (lines, citing) => {
      const [, marks, text] = /^(#+) (.*)$/.exec(lines.shift());
      return make(marks.length < 3 ? "h3" : "h4", {}, ...inline(text, citing));
    }],
    [/^\s*(?:[-*+]|\d+[.)]) /, (lines, citing) => {
      const isOrdered = /^\s*\d/.test(lines[0]);
      const items = [];
      while (lines.length && /^(?:\s*(?:[-*+]|\d+[.)]) |\s+\S)/.test(lines[0])) {
        const line = lines.shift();
        const item = /^\s*(?:[-*+]|\d+[.)]) (.*)$/.exec(line);
        if (item) items.push(item[1]);
        else items[items.length - 1] += ` ${line.trim()}`;
      }
      return make(isOrdered ? "ol" : "ul", {}, ...items.map((each) => make("li", {}, ...inline(each, citing))));
    }],
    [/^>/, (lines, citing) => {
      const inside = [];
      while (lines.length && /^>/.test(lines[0])) inside.push(lines.shift().replace(/^>\s?/, ""));
      return make("blockquote", {}, ...written(inside.join("\n"), citing));
    }],
    [/^\|.*\|\s*$/, (lines, citing) => {
      const rows = [];
      while (lines.length && /^\|/.test(lines[0])) rows.push(lines.shift());
      const body = rows.filter((each) => !/^\|[\s:|-]+\|?\s*$/.test(each)).map(cells);
      const row = (tag) => (each) => make("tr", {}, ...each.map((cell) => make(tag, {}, ...inline(cell, citing))));
      return make("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Table" },
        make("table", {}, make("thead", {}, ...body.slice(0, 1).map(row("th"))), make("tbody", {}, ...body.slice(1).map(row("td")))));
    }],
    [/^(?:-{3,}|\*{3,})\s*$/, (lines) => {
      lines.shift();
      return make("hr");
    }],
  ];

  const written = (text, citing) => {
    const lines = text.split("\n");
    const nodes = [];
    while (lines.length) {
      if (!lines[0].trim()) {
        lines.shift();
        continue;
      }
      const block = BLOCKS.find(([sign]) => sign.test(lines[0]));
      if (block) {
        nodes.push(block[1](lines, citing));
        continue;
      }
      const inside = [];
      while (lines.length && lines[0].trim() && (inside.length === 0 || !BLOCKS.some(([sign]) => sign.test(lines[0])))) inside.push(lines.shift());
      nodes.push(make("p", {}, ...inline(inside.join(" "), citing)));
    }
    return nodes;
  };

  // what the user does

  const onSubmit = (form, action) => form.addEventListener("submit", (event) => {
    event.preventDefault();
    attempt(form, form.querySelector("[type=submit]"), action);
  });
  const onClick = (id, action) => get(id).addEventListener("click", (event) => attempt(get("run"), event.currentTarget, action));
  const current = (action) => `/api/research/${followed.id}/${action}`;

  onSubmit(get("login").querySelector("form"), async () => {
    await request("POST", "/api/login", { token: get("token").value.trim() });
    get("token").value = "";
    route();
  });
  onSubmit(get("home").querySelector("form"), async () => {
    const text = (id) => get(id).value.trim();
    const body = { query: text("query"), privacy_mode: document.querySelector("[name=privacy]:checked").value, clarify: get("clarify").checked };
    for (const name of ["domain", "model"]) if (text(name)) body[name] = text(name);
    if (text("documents")) body.documents = listed("documents", "\n");
    else if (document.querySelector("#own-collections input") && String(ticked()) !== own.default) Object.assign(body, ticked().length ? { collections: ticked() } : { default_documents: false });
    if (text("cycles")) body.max_cycles = Number(text("cycles"));
    const started = await request("POST", "/api/research/start", body);
    get("query").value = "";
    location.hash = started.session_id;
  });
  onSubmit(get("clarification").querySelector("form"), async () => {
    await request("POST", current("answer"), { text: get("clarification-text").value.trim() });
    get("clarification-text").value = "";
    showQuestions(null);
    get("run").querySelector("h1").focus();
  });
  onSubmit(get("steer"), async () => {
    await request("POST", current("tell"), { note: get("note").value.trim() });
    get("note").value = "";
    get("told").textContent = "Told. It takes this into account from its next step on.";
  });
  const decide = (approve) => async () => {
    await request("POST", current("approve"), { token: get("ask").dataset.token, approve });
    showQuestions(null);
    say(approve ? "Sent." : "Not sent.", true);
    get("run").querySelector("h1").focus();
  };
  onClick("ask-yes", decide(true));
  onClick("ask-no", decide(false));
  onClick("stop", async () => {
    await request("POST", current("stop"));
    say("Stopping: it ends its cycle, and writes its report.", true);
    get("stop").hidden = true;
    get("run").querySelector("h1").focus();
  });
  onClick("resume", async () => {
    const { id } = followed;
    await request("POST", current("resume"));
    followed = followed.close();
    await showRun(id);
  });
  get("panel-close").addEventListener("click", closePanel);
  get("logout").addEventListener("click", async () => {
    await request("POST", "/api/logout").catch(() => null);
    showLogin();
  });
  get("documents").addEventListener("input", () => own && showOwn());
  for (const each of document.querySelectorAll("[name=privacy]")) each.addEventListener("change", () => own && showOwn());
  get("query").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.target.form.requestSubmit();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") closePanel();
  });
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault(); // the fragment names the run
    get("main").focus();
  });
  window.addEventListener("hashchange", () => begin());

  // the token of a first visit is in the fragment, which browsers send to no server; it leaves the address bar at once

  const begin = async () => {
    const token = /^#token=(.+)$/.exec(location.hash);
    if (token) {
      history.replaceState(null, "", location.pathname);
      await request("POST", "/api/login", { token: decodeURIComponent(token[1]) }).catch(() => null);
    }
    route();
  };
  begin();
})();
