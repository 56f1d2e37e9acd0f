// What else does a report tell? Notes and analyses: sentences, tables and pictures that came with the page.

const PROSE = { heading: "h2", subheading: "h3", paragraph: "p", code: "pre" };

function fillSections(sections = []) {
  byId("findings").append(...sections.map((section) => (section.prose ? makeProse(section.prose) : makeFinding(section))));
}

function makeProse(blocks) {
  const made = blocks.map(({ kind, text, items }) =>
    kind === "list" ? make("ul", {}, items.map((item) => make("li", {}, item))) : make(PROSE[kind], {}, text));
  return make("section", { class: "prose" }, made);
}

function makeFinding({ title, sentences, tables, images }) {
  const shown = tables.map(({ heads, rows, more }) => [
    makeTable(heads, rows.map((row) => make("tr", {}, row.map((cell) => make("td", {}, cell))))),
    more ? make("p", { class: "quiet" }, `and ${more} more`) : null,
  ]);
  const pictures = images.map((src) => make("img", { src, alt: title }));
  return make("section", {}, make("h2", {}, title), sentences.map((text) => make("p", { class: "note" }, text)), shown.flat(), pictures);
}
