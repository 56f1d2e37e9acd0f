"""Report pages in a browser: how do tests write them, read their numbers, move through time?"""

import importlib.resources

from robodyn.presentation.pages import write_report


def write_numbered(folder, number, *runs, **options):
    return write_report(runs, folder / f"report{number}.html", **options)


def number(text):
    return float(text.replace("−", "-").split()[0])


def scrub(browser, share):
    """Drag the time slider to a share of the run; the time it shows."""
    script = "const s = arguments[0], e = document.querySelector('#scrub');"
    browser.run(script + "e.value = 1000 * s; e.dispatchEvent(new Event('input'))", share)
    return number(browser.text("#clock"))


def toggle(browser, text):
    """Click on what is shown of the machine on wish."""
    labels = "[...document.querySelectorAll('#replay-tools label, .run-choice label')]"
    browser.run(f"{labels}.find((label) => label.textContent === arguments[0]).click()", text)


def find_barriers(page, scheme="light"):
    """What axe-core finds in the page as it stands: rules that are broken, with the elements that break them."""
    axe = importlib.resources.files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    page._develop("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    try:
        page.run(
            axe + "; window.axe = axe; window.found = null; axe.run().then((all) => (window.found = all.violations))"
        )
        page.wait("window.found !== null")
        return page.run("return window.found.map((v) => [v.id, v.nodes.map((node) => node.html.slice(0, 120))])")
    finally:
        page._develop("Emulation.setEmulatedMedia", features=[])
