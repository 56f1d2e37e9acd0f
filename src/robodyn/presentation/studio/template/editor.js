// How is the scenario's file edited beside the machine? A text with line numbers, colours, completion and its flaws.

const LARGEST_COLOURED = 200_000;
const PAUSE = 350;

// changed(text): called when the writer rests; schema(): the JSON Schema, or null while it is not there.
function makeEditor(changed, schema) {
  const area = make("textarea", { id: "text", spellcheck: "false", autocapitalize: "off", autocomplete: "off", wrap: "off", title: "Ctrl-Space completes", "aria-label": "TOML of the scenario" });
  const colours = make("pre", { class: "colours", "aria-hidden": "true" });
  const gutter = make("pre", { class: "gutter", "aria-hidden": "true" });
  const lines = make("div", { class: "lines" }, colours, area);
  const element = make("div", { class: "editor" }, gutter, lines);
  const editor = { element, area, flawed: new Set(), known: null };
  const offer = makeChoices(lines, area, schema, () => area.dispatchEvent(new Event("input")));
  const paint = () => {
    const text = area.value;
    const plain = text.length > LARGEST_COLOURED;
    const changes = changedLines(editor.known, text);
    const paintLine = (line, k) => {
      const pieces = piecesOf(line).map(makePiece);
      return changes.has(k) ? [make("mark", {}, ...pieces), "\n"] : [...pieces, "\n"];
    };
    colours.replaceChildren(...(plain ? [text] : text.split("\n").flatMap(paintLine)));
    const count = text.split("\n").length;
    gutter.replaceChildren(...Array.from({ length: count }, (_, k) => [editor.flawed.has(k) ? make("b", {}, ` ${k + 1}`) : String(k + 1), "\n"]).flat());
    follow();
  };
  const follow = () => {
    [colours.scrollTop, colours.scrollLeft] = [area.scrollTop, area.scrollLeft];
    gutter.scrollTop = area.scrollTop;
  };
  let rest = 0;
  area.addEventListener("scroll", follow);
  area.addEventListener("input", () => {
    paint();
    clearTimeout(rest);
    rest = setTimeout(editor.rest, PAUSE);
    offer.show();
  });
  // What was typed is passed on, at the latest now.
  editor.rest = () => {
    clearTimeout(rest);
    if (rest) changed(area.value);
    rest = 0;
  };
  area.addEventListener("keydown", (event) => offer.press(event) || indent(area, event));
  area.addEventListener("blur", () => setTimeout(offer.hide, 150));
  // known: the text of the file, against which changes are marked.
  editor.put = (text, known) => {
    editor.known = known;
    rest = clearTimeout(rest) ?? 0;
    if (area.value !== text) {
      const [top, start, end] = [area.scrollTop, area.selectionStart, area.selectionEnd];
      const first = [...changedLines(area.value, text)][0];
      area.value = text;
      area.setSelectionRange(start, end);
      // The line that has changed is seen.
      const [line, height] = [(first ?? 0) * lineHeight(area), area.clientHeight];
      area.scrollTop = first === undefined || (line > top && line < top + height - 20) ? top : line - height / 3;
    }
    editor.mark([]);
  };
  editor.mark = (flaws) => {
    editor.flawed = new Set(flaws.map((flaw) => lineOf(area.value, flaw)).filter((line) => line >= 0));
    paint();
  };
  editor.goTo = (flaw) => {
    const line = lineOf(area.value, flaw);
    if (line < 0) return;
    const start = area.value.split("\n").slice(0, line).join("\n").length + (line > 0 ? 1 : 0);
    area.focus();
    area.setSelectionRange(start, start);
    area.scrollTop = (line - 3) * lineHeight(area);
    follow();
  };
  return editor;
}

// Numbers of the lines (from 0) that a text has otherwise than another: between what both begin and end with.
function changedLines(known, text) {
  if (known === null || known === text) return new Set();
  const [before, after] = [known.split("\n"), text.split("\n")];
  const shorter = Math.min(before.length, after.length);
  let [start, end] = [0, 0];
  while (start < shorter && before[start] === after[start]) start++;
  while (end < shorter - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end++;
  const middle = Array.from({ length: after.length - end - start }, (_, k) => start + k);
  const aligned = before.length === after.length;
  return new Set(middle.filter((k) => !aligned || before[k] !== after[k]));
}

function makePiece([kind, text]) {
  return kind ? make("span", { class: `t-${kind}` }, text) : text;
}

function lineHeight(area) {
  return parseFloat(getComputedStyle(area).lineHeight);
}

// Tab writes spaces; the way out of the text without a mouse is Escape, then Tab.
function indent(area, event) {
  if (event.key === "Escape") area.dataset.leaving = "true";
  else if (event.key === "Tab" && !area.dataset.leaving && !event.shiftKey) {
    event.preventDefault();
    insertText(area, area.selectionStart, "    ");
  } else delete area.dataset.leaving;
}

// As if it were typed, so that the browser's own undo knows it.
function insertText(area, from, text) {
  area.focus();
  area.setSelectionRange(from, area.selectionEnd);
  if (!document.execCommand("insertText", false, text)) area.setRangeText(text, from, area.selectionEnd, "end");
}

// The list of what may be written, under the cursor: Ctrl-Space or typing opens it, Tab or Enter takes one.
function makeChoices(lines, area, schema, written) {
  const list = make("ul", { class: "choices", role: "listbox", hidden: true });
  lines.append(list);
  let [found, chosen] = [null, 0];
  const hide = () => ((list.hidden = true), (found = null));
  const take = (k) => {
    const { from, choices } = found;
    const { text } = choices[k];
    hide();
    insertText(area, from, text);
    written();
    hide();
  };
  const draw = () => {
    list.replaceChildren(...found.choices.map(({ text, note }, k) => {
      const option = make("li", { role: "option", "aria-selected": String(k === chosen) }, make("span", {}, text), note ? make("span", { class: "quiet" }, note) : null);
      option.addEventListener("pointerdown", (event) => (event.preventDefault(), take(k)));
      return option;
    }));
    list.children[chosen]?.scrollIntoView({ block: "nearest" });
  };
  const place = () => {
    const before = area.value.slice(0, area.selectionStart).split("\n");
    const height = lineHeight(area);
    const left = before[before.length - 1].length * 7.55 - area.scrollLeft + 8;
    const top = before.length * height - area.scrollTop + 8;
    list.style.left = `${Math.max(4, Math.min(left, lines.clientWidth - 260))}px`;
    const room = lines.clientHeight - top;
    list.style.top = room > 120 ? `${top}px` : "auto";
    list.style.bottom = room > 120 ? "auto" : `${lines.clientHeight - top + height + 4}px`;
  };
  const show = (asked = false) => {
    const known = schema();
    if (!known || area.selectionStart !== area.selectionEnd) return hide();
    found = complete(area.value, area.selectionStart, known);
    const begun = area.selectionStart > found.from;
    if (found.choices.length === 0 || (!begun && !asked)) return hide();
    chosen = 0;
    list.hidden = false;
    draw();
    place();
  };
  const press = (event) => {
    if (event.key === " " && event.ctrlKey) return event.preventDefault(), show(true), true;
    if (list.hidden) return false;
    const moves = { ArrowDown: 1, ArrowUp: -1 };
    if (event.key in moves) {
      chosen = (chosen + moves[event.key] + found.choices.length) % found.choices.length;
      draw();
    } else if (event.key === "Tab" || event.key === "Enter") take(chosen);
    else if (event.key === "Escape") hide();
    else return false;
    event.preventDefault();
    return true;
  };
  return { show, hide, press };
}
