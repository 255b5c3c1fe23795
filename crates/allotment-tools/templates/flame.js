"use strict";
(() => {
  const ROW = 20, NARROWEST = 1.5, WITH_TEXT = 28;
  const byId = id => document.getElementById(id);
  const data = JSON.parse(byId("data").textContent);
  const graph = byId("graph"), told = byId("told"), tip = byId("tip"), search = byId("search");
  const nodes = data.nodes.map(([name, parent, shape, ...values], index) =>
    ({ index, name: index ? data.names[name] : "all", parent, shape: shape === 1, values, children: [], depth: 0 }));
  nodes.forEach(node => {
    if (!node.index) return;
    const parent = nodes[node.parent];
    parent.children.push(node);
    node.depth = parent.depth + 1;
  });
  let type = data.chosen, top = nodes[0], current = nodes[0], found = null;

  const value = node => node.values[type];
  const number = new Intl.NumberFormat("en-US", { maximumFractionDigits: 2 });
  function amount(value, unit) {
    if (unit !== "bytes") return number.format(value) + " " + unit;
    const names = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let step = 0, scaled = value;
    while (scaled >= 1024 && step < names.length - 1) { scaled /= 1024; step++; }
    return number.format(scaled) + " " + names[step];
  }
  const percent = (part, whole) => (whole ? (part / whole * 100).toFixed(part / whole < 0.001 ? 3 : 1) : "0.0") + " %";

  // Functions of one module have one colour, whatever their type parameters are.
  function hue(whole) {
    const name = whole.replace(/(.)<.*/, "$1").replace(/::$/, "");
    const end = Math.max(name.lastIndexOf("::"), name.lastIndexOf("."), name.lastIndexOf("+"));
    let hash = 7;
    for (const char of end > 0 ? name.slice(0, end) : name) hash = (hash * 31 + char.codePointAt(0)) % 9973;
    return hash % 360;
  }
  const ordered = node => node.children.filter(value).sort((a, b) => value(b) - value(a) || a.index - b.index);
  function path(node) {
    const way = [node];
    while (way[0].index) way.unshift(nodes[way[0].parent]);
    return way;
  }

  function box(node, left, width, isOuter) {
    const one = document.createElement("div");
    one.className = "box" + (isOuter ? " outer" : "") + (node.shape ? " shape" : "") + (found && found.has(node) ? " found" : "");
    one.style.cssText = `left:${left}px;width:${width}px;top:${node.depth * ROW}px;--hue:${hue(node.name)}`;
    if (width >= WITH_TEXT) one.textContent = node.name;
    one.dataset.node = node.index;
    one.tabIndex = node === current ? 0 : -1;
    one.setAttribute("role", "treeitem");
    one.setAttribute("aria-level", node.depth + 1);
    one.setAttribute("aria-label", sentence(node));
    return one;
  }
  function sentence(node) {
    const { unit } = data.types[type];
    return `${node.name}: ${amount(value(node), unit)}, ${percent(value(node), value(nodes[0]))} of all`;
  }

  function draw() {
    const width = graph.clientWidth, boxes = [];
    let deepest = 0;
    for (const node of path(top)) boxes.push(box(node, 0, width, node !== top));
    const work = [[top, 0, width]];
    while (work.length) {
      const [node, from, space] = work.pop();
      deepest = Math.max(deepest, node.depth);
      let left = from;
      for (const child of ordered(node)) {
        const own = space * value(child) / value(node);
        if (own >= NARROWEST) {
          boxes.push(box(child, left, own, false));
          work.push([child, left, own]);
        }
        left += own;
      }
    }
    graph.replaceChildren(...boxes);
    graph.style.height = (deepest + 1) * ROW + "px";
    byId("reset").disabled = top === nodes[0] && !search.value;
    if (!shown(current)) select(top, false);
    tell();
  }
  const shown = node => graph.querySelector(`[data-node="${node.index}"]`);

  function tell() {
    const { name, unit } = data.types[type];
    let text = `${name}. ${sentence(current)}`;
    if (top !== nodes[0] && current !== top && path(current).includes(top)) text += `, ${percent(value(current), value(top))} of ${top.name}`;
    if (found) text += `. Found: ${percent(sum(found), value(nodes[0]))} of all, in ${found.size} ${found.size === 1 ? "box" : "boxes"}`;
    told.textContent = text;
  }
  // A box inside another that is found counts once.
  function sum(set) {
    let all = 0;
    for (const node of set) if (!path(node).slice(0, -1).some(one => set.has(one))) all += value(node);
    return all;
  }

  function select(node, focus = true) {
    const old = shown(current), now = shown(node);
    if (!now) return;
    if (old) old.tabIndex = -1;
    current = node;
    now.tabIndex = 0;
    if (focus) now.focus({ preventScroll: false });
    tell();
  }
  function zoom(node) {
    top = node;
    current = node;
    draw();
    shown(node).focus();
  }
  function look() {
    const text = search.value.trim();
    found = null;
    if (text) {
      let matches = name => name.toLowerCase().includes(text.toLowerCase());
      const expression = /^\/(.+)\/$/.exec(text);
      search.setCustomValidity("");
      if (expression) {
        try { const wanted = new RegExp(expression[1]); matches = name => wanted.test(name); }
        catch (error) { search.setCustomValidity(error.message); search.reportValidity(); return; }
      }
      found = new Set(nodes.filter(node => node.index && value(node) && matches(node.name)));
    }
    draw();
  }

  function showTip(node, x, y) {
    const rows = data.types.map(({ name, unit }, index) => {
      const row = document.createElement("tr");
      for (const text of [name, amount(node.values[index], unit), percent(node.values[index], nodes[0].values[index])])
        row.insertCell().textContent = text;
      return row;
    });
    const title = document.createElement("b"), table = document.createElement("table");
    title.textContent = (node.shape ? "objects of type " : "") + node.name;
    table.append(...rows);
    tip.replaceChildren(title, table);
    tip.hidden = false;
    const { width, height } = tip.getBoundingClientRect();
    tip.style.left = Math.max(4, Math.min(x + 12, innerWidth - width - 8)) + "px";
    tip.style.top = (y + height + 24 > innerHeight ? Math.max(4, y - height - 12) : y + 16) + "px";
  }
  const of = event => {
    const one = event.target.closest(".box");
    return one && nodes[one.dataset.node];
  };
  graph.addEventListener("pointermove", event => {
    const node = of(event);
    if (node) showTip(node, event.clientX, event.clientY); else tip.hidden = true;
  });
  graph.addEventListener("pointerleave", () => tip.hidden = true);
  graph.addEventListener("click", event => { const node = of(event); if (node) { tip.hidden = true; zoom(node); } });
  graph.addEventListener("focusin", event => {
    const node = of(event);
    if (!node) return;
    if (node !== current) select(node, false);
    if (event.target.matches(":focus-visible")) {
      const { left, bottom } = event.target.getBoundingClientRect();
      showTip(node, Math.max(0, left), bottom);
    }
  });
  graph.addEventListener("focusout", () => tip.hidden = true);

  function beside(node, step) {
    const all = node.index ? ordered(nodes[node.parent]).filter(shown) : [node];
    return all[all.indexOf(node) + step];
  }
  const keys = {
    ArrowDown: node => ordered(node).find(shown),
    ArrowUp: node => node.index ? nodes[node.parent] : node,
    ArrowLeft: node => beside(node, -1),
    ArrowRight: node => beside(node, 1),
    Home: () => nodes[0],
  };
  graph.addEventListener("keydown", event => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "Enter" || event.key === " ") zoom(current);
    else if (event.key in keys) { const next = keys[event.key](current); if (next) select(next); }
    else return;
    event.preventDefault();
  });
  document.addEventListener("keydown", event => {
    if (event.key === "/" && document.activeElement !== search) { event.preventDefault(); search.focus(); }
    if (event.key === "Escape" && document.activeElement !== search && top.index) zoom(nodes[top.parent]);
  });

  const select_type = byId("type");
  data.types.forEach(({ name, unit }, index) => select_type.add(new Option(`${name} (${unit})`, index, false, index === type)));
  select_type.addEventListener("change", () => {
    type = Number(select_type.value);
    while (!value(top) && top.index) top = nodes[top.parent];
    look();
  });
  search.addEventListener("input", look);
  byId("controls").addEventListener("submit", event => event.preventDefault());
  byId("reset").addEventListener("click", () => { search.value = ""; found = null; zoom(nodes[0]); });
  new ResizeObserver(() => { if (graph.clientWidth !== drawn) { drawn = graph.clientWidth; draw(); } }).observe(graph);
  let drawn = graph.clientWidth;
  draw();
})();
