"""Report pages in a browser: how do tests write them, read their numbers, move through time?"""

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
    script = "[...document.querySelectorAll('#replay-tools label')].find((l) => l.textContent === arguments[0]).click()"
    browser.run(script, text)
