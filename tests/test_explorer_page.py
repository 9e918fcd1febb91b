"""The Explorer in a browser: two of them on a page without a kernel, without a server and without a theme."""

import io
import re
import shutil
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, expect

from encoderlab.explorer import Explorer, Steps, Toggle, style

STATIC = Path(__file__).resolve().parents[1] / "_static"

PAGE = """<!doctype html><html lang="en" data-theme="light"><head><meta charset="utf-8"><title>Two</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="explorer.css"><script{defer} src="explorer.js"></script>
<style>
  body {{ margin: 0 auto; padding: 0 1rem; max-width: 44rem; font: 16px/1.5 sans-serif; }}
  html[data-theme="dark"] {{ --pst-color-text-base: #ced6dd; --pst-color-background: #14181e; }}
  body {{ color: var(--pst-color-text-base); background: var(--pst-color-background); }}
</style></head><body><p>{space}</p>{one}<p>{space}</p>{two}</body></html>"""


@mpl.rc_context(style.RC)
def token_explorer() -> Explorer:
    """Return two panels: the cosines between twelve tokens, and a curve with a point for each layer."""
    tokens = np.random.default_rng(0).normal(size=(12, 32))
    figure, (left, right) = style.panels(2)
    image = left.imshow(np.zeros((12, 12)), vmin=-1, vmax=1, cmap=style.DIVERGING, animated=True)
    left.set(title="Cosine between tokens", xticks=[], yticks=[])
    (line,) = right.plot([], [], "o-", color=style.BLUE, animated=True)
    right.set(title="Distance", xlabel="Layer", xlim=(0, 12), ylim=(0, 1))

    def update(ffn, depth):
        mix = 0.8 if ffn else 0.5
        x = tokens * mix**depth + 0.02
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        image.set_data(x @ x.T)
        line.set_data(range(depth + 1), mix ** np.arange(depth + 1))
        return f"With the FFN {'on' if ffn else 'off'}, {depth} layers leave a distance of {mix**depth:.4f}."

    return Explorer("one", figure, update, ffn=Toggle("FFN"), depth=Steps("Depth", range(1, 13), start=6))


@mpl.rc_context(style.RC)
def rate_explorer() -> Explorer:
    """Return one panel, with values that need escaping or are no whole numbers."""
    figure, (axes,) = style.panels(height=3)
    axes.set(xlim=(0, 4), ylim=(0, 1), title="A bar")
    bar = axes.bar([1], [0], color=style.GREEN, animated=True)[0]

    def update(rate, norm):
        bar.set_height(rate)
        bar.set_x(len(norm) / 4)
        return f"The rate is {rate} with {norm}."

    norms = ("none", "post & pre", "100 %")
    return Explorer("two", figure, update, rate=Steps("Rate", (0.1, 0.3, 1.0)), norm=Toggle("Norm", norms))


@pytest.fixture(scope="module")
def address(tmp_path_factory) -> str:
    """Write the page, and return where it is."""
    folder = tmp_path_factory.mktemp("page")
    for name in ("explorer.css", "explorer.js"):
        shutil.copy(STATIC / name, folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENCODERLAB_WORLD", "page")
        one, two = (maker()._repr_mimebundle_()["text/html"] for maker in (token_explorer, rate_explorer))
    space = "Prose. " * 800  # so that the second explorer is far below
    for name, defer in (("index", ""), ("deferred", " defer")):
        html = PAGE.format(one=one, two=two, space=space, defer=defer)
        (folder / f"{name}.html").write_text(html, encoding="utf-8")
    broken = re.sub(r'(gzip">.{100})', r"\1AAAA", PAGE.format(one=one, two=two, space="", defer=""))
    (folder / "broken.html").write_text(broken, encoding="utf-8")
    (folder / "twice.html").write_text(PAGE.format(one=one, two=one, space="", defer=""), encoding="utf-8")
    return folder.as_uri()


@pytest.fixture
def visit(browser: Browser, address: str):
    """Open pages with `visit(rest of the address, ready=True, script to run first, **context options)`."""
    contexts, complaints = [], []

    def open_page(rest: str = "/index.html", *, ready: bool = True, before: str = "", **options) -> Page:
        context = browser.new_context(**({"viewport": {"width": 1280, "height": 900}} | options))
        contexts.append(context)
        context.add_init_script(
            "window.written = []; const replace = history.replaceState.bind(history);"
            "history.replaceState = (...all) => { written.push(performance.now()); replace(...all); };"
            + before
        )
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(address + rest)
        if ready:
            expect(page.locator("figure.explorer[data-ready]")).to_have_count(2)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


def shown(page: Page, name: str) -> tuple[str, str]:
    """Return the picture and the sentence of an explorer."""
    figure = page.locator(f"#{name}").first
    return figure.locator(".explorer-frame").inner_html(), figure.locator(".explorer-says").inner_text()


def says(page: Page, name: str) -> str:
    """Return the sentence of an explorer."""
    return shown(page, name)[1]


# Controls.


@pytest.mark.parametrize("document", ["/index.html", "/deferred.html"])
def test_every_control_moves_the_figure_and_the_sentence_from_the_keyboard(visit, document):
    page = visit(document)
    for name, controls in (("one", ("ffn", "depth")), ("two", ("rate", "norm"))):
        for control in controls:
            picture, sentence = shown(page, name)
            focus = page.locator(f"#{name} input[name={control}]").first
            focus.focus()
            page.keyboard.press("ArrowRight")
            assert shown(page, name)[0] != picture
            assert shown(page, name)[1] != sentence
    assert says(page, "one") == "With the FFN on, 7 layers leave a distance of 0.2097."
    assert says(page, "two") == "The rate is 0.3 with post & pre."


def test_every_control_moves_the_figure_by_touch(visit):
    page = visit(has_touch=True, viewport={"width": 390, "height": 844})
    page.get_by_role("group", name="FFN").get_by_role("radio", name="on").tap()
    assert says(page, "one") == "With the FFN on, 6 layers leave a distance of 0.2621."
    slider = page.get_by_role("slider", name="Rate")
    slider.tap(position={"x": slider.bounding_box()["width"] - 2, "y": 10})
    assert says(page, "two") == "The rate is 1.0 with none."


def test_each_control_tells_its_name_and_its_value(visit):
    page = visit()
    expect(page.get_by_text("This figure stands still").first).to_be_hidden()
    for group, options in (("FFN", ("off", "on")), ("Norm", ("none", "post & pre", "100 %"))):
        for option in options:
            radio = page.get_by_role("group", name=group, exact=True).get_by_role(
                "radio", name=option, exact=True
            )
            expect(radio).to_have_count(1)
    slider = page.get_by_role("slider", name="Rate", exact=True)
    slider.press("End")
    expect(slider).to_have_attribute("aria-valuetext", "1.0")
    expect(page.locator("#two output")).to_have_text("1.0")
    for name in ("one", "two"):
        expect(page.locator(f"#{name}").get_by_role("img", name=says(page, name))).to_have_count(1)
        for button in ("Reset", "Copy link", re.compile("^Play (Depth|Rate)$")):
            expect(page.locator(f"#{name}").get_by_role("button", name=button)).to_have_count(1)


def test_explorers_leave_each_other_alone(visit):
    page = visit()
    other = shown(page, "two")
    page.get_by_role("group", name="FFN").get_by_role("radio", name="on").check()
    page.get_by_role("slider", name="Depth").press("Home")
    assert shown(page, "two") == other
    one = shown(page, "one")
    page.get_by_role("slider", name="Rate").press("End")
    assert shown(page, "one") == one


def test_reset_returns_to_the_first_state(visit):
    page = visit()
    first = shown(page, "one")
    page.get_by_role("slider", name="Depth").press("End")
    page.locator("#one").get_by_role("radio", name="on").check()
    assert shown(page, "one") != first
    page.locator("#one").get_by_role("button", name="Reset").press("Enter")
    assert shown(page, "one") == first
    assert page.get_by_role("slider", name="Depth").input_value() == "6"
    expect(page.locator("#one").get_by_role("radio", name="off")).to_be_checked()


def test_play_walks_to_the_end_and_stops(visit):
    page = visit()
    page.locator("#two").get_by_role("button", name="Play Rate").click()
    expect(page.locator("#two .explorer-says")).to_have_attribute("aria-live", "off")
    expect(page.locator("#two output")).to_have_text("0.3")
    expect(page.locator("#two output")).to_have_text("1.0")
    expect(page.locator("#two").get_by_role("button", name="Play Rate")).to_have_count(1)
    expect(page.locator("#two .explorer-says")).to_have_attribute("aria-live", "polite")


def test_a_hand_on_the_control_stops_play(visit):
    page = visit()
    page.get_by_role("button", name="Play Depth").click()
    page.get_by_role("slider", name="Depth").press("Home")
    expect(page.get_by_role("button", name="Play Depth")).to_have_count(1)
    page.wait_for_timeout(800)
    assert page.get_by_role("slider", name="Depth").input_value() == "1"


def test_nothing_plays_for_a_reader_who_wants_less_motion(visit):
    page = visit(reduced_motion="reduce")
    expect(page.get_by_role("button", name="Play")).to_have_count(0)


# The address.


def test_the_address_names_the_explorer_moved_last_and_restores_it(visit):
    page = visit()
    page.locator("#one").get_by_role("radio", name="on").check()
    page.get_by_role("slider", name="Rate").press("End")
    page.locator("#two").get_by_role("radio", name="post & pre").check()
    page.wait_for_function("location.hash === '#two?rate=1.0&norm=post+%26+pre'")
    moved = shown(page, "two")

    page.reload()
    expect(page.locator("figure.explorer[data-ready]")).to_have_count(2)
    assert shown(page, "two") == moved
    expect(page.locator("#two")).to_be_in_viewport()
    assert says(page, "one").startswith("With the FFN off, 6 layers")


def test_the_address_is_written_at_most_once_in_300_ms_and_last_of_all_at_the_end(visit):
    page = visit()
    page.evaluate(
        """async () => {
            const slider = document.querySelector("#one input[type=range]");
            for (let k = 0; k < 50; k++) {
                slider.value = 1 + (k % 12);
                slider.dispatchEvent(new Event("input", { bubbles: true }));
                await new Promise((next) => setTimeout(next, 20));
            }
        }"""
    )
    page.wait_for_function("location.hash === '#one?ffn=off&depth=2'")
    page.wait_for_timeout(400)
    written = page.evaluate("written")
    assert len(written) >= 3
    assert min(np.diff(written)) >= 299


def test_a_link_on_the_page_steers_the_figure(visit):
    page = visit()
    page.evaluate(
        "document.body.insertAdjacentHTML('beforeend', '<a href=\"#one?depth=12\">Twelve layers</a>')"
    )
    page.get_by_role("link", name="Twelve layers").click()
    expect(page.locator("#one .explorer-says")).to_have_text(re.compile("^With the FFN off, 12 layers"))
    expect(page.locator("#one")).to_be_in_viewport()


@pytest.mark.parametrize(
    ("fragment", "expected"),
    [
        ("#nobody?ffn=on&depth=2", "With the FFN off, 6 layers"),
        ("#one?ffn=on&depth=99", "With the FFN on, 6 layers"),
        ("#one?ffn=maybe&depth=2", "With the FFN off, 2 layers"),
        ("#one?height=3&depth=3&depth=4", "With the FFN off, 3 layers"),
        ("#one?depth=%E0%A4%A&&=", "With the FFN off, 6 layers"),
        ("#one", "With the FFN off, 6 layers"),
        ("#?", "With the FFN off, 6 layers"),
        ("#%E0%A4%A?depth=2", "With the FFN off, 6 layers"),
    ],
)
def test_what_an_address_should_not_say_is_ignored(visit, fragment, expected):
    page = visit(f"/index.html{fragment}")
    assert says(page, "one").startswith(expected)
    assert says(page, "two") == "The rate is 0.1 with none."


@pytest.mark.parametrize(
    ("fragment", "told"),
    [
        ("#one?ffn=on&depth=99", "The address asks for depth = 99, which this figure does not have"),
        ("#one?height=3&depth=3", "The address asks for height = 3, which this figure does not have"),
        ("#one?ffn=on&depth=2", ""),
    ],
)
def test_state_that_does_not_exist_is_told(visit, fragment, told):
    page = visit(f"/index.html{fragment}")
    expect(page.locator("#one .explorer-note")).to_have_text(told)


def test_figure_that_is_not_on_the_page_is_told(visit):
    page = visit("/index.html#nobody?ffn=on")
    missing = page.get_by_text('The address asks for the figure "nobody", which is not on this page.')
    expect(missing).to_be_visible()
    page.evaluate("location.hash = '#one?depth=2'")
    expect(missing).to_have_count(0)


CLIPBOARD = (
    "Object.defineProperty(navigator, 'clipboard', {{ value: {{ writeText: async (text) => {{ {} }} }} }});"
)


def test_copied_link_leads_to_the_state(visit, address):
    page = visit(before=CLIPBOARD.format("window.copied = text"))
    page.get_by_role("slider", name="Depth").press("End")
    page.locator("#one").get_by_role("button", name="Copy link").click()
    expect(page.locator("#one").get_by_role("status").last).to_have_text("Link copied")
    copied = page.evaluate("copied")
    assert copied == f"{address}/index.html#one?ffn=off&depth=12"
    assert says(visit(copied.removeprefix(address)), "one").startswith("With the FFN off, 12 layers")


def test_link_that_cannot_be_copied_stands_in_the_address_bar(visit):
    page = visit(before=CLIPBOARD.format("throw new Error()"))
    page.locator("#two").get_by_role("button", name="Copy link").click()
    expect(page.locator("#two .explorer-note")).to_have_text("The link is in the address bar")
    page.wait_for_function("location.hash === '#two?rate=0.1&norm=none'")


# Browsers and pages that fall short.


def test_without_javascript_the_first_state_stands_and_no_dead_control(visit):
    page = visit(ready=False, java_script_enabled=False)
    for name, sentence in (("one", "With the FFN off, 6 layers"), ("two", "The rate is 0.1")):
        assert says(page, name).startswith(sentence)
        expect(page.locator(f"#{name} .explorer-frame svg").first).to_be_visible()
        expect(page.locator(f"#{name} .explorer-moving").first.locator("path, image").first).to_be_visible()
        expect(page.locator(f"#{name}").get_by_text("This figure stands still")).to_be_visible()
    expect(page.locator("input:visible, button:visible")).to_have_count(0)


@pytest.mark.parametrize(
    ("document", "before"), [("/index.html", "delete window.DecompressionStream"), ("/broken.html", "")]
)
def test_browser_that_cannot_unpack_says_so_and_shows_the_first_state(visit, document, before):
    page = visit(document, ready=False, before=before)
    for note in page.get_by_text("This figure stands still").all():
        expect(note).to_be_visible()
    expect(page.locator("input:visible, button:visible")).to_have_count(0)
    assert says(page, "one").startswith("With the FFN off, 6 layers")
    expect(page.locator("#one .explorer-frame svg").first).to_be_visible()


def test_controls_appear_when_they_work_and_nothing_on_the_page_gives_way(visit):
    page = visit(ready=False, before="window.tasks = []; requestIdleCallback = (task) => tasks.push(task)")
    expect(page.locator("input:visible, button:visible")).to_have_count(0)
    before = page.locator("#two .explorer-frame").bounding_box()
    page.evaluate("tasks.forEach((task) => task())")
    expect(page.locator("figure.explorer[data-ready]")).to_have_count(2)
    expect(page.get_by_role("slider", name="Depth")).to_be_visible()
    assert page.locator("#two .explorer-frame").bounding_box() == before


def test_script_loaded_twice_acts_once(visit):
    page = visit()
    page.add_script_tag(url="explorer.js")
    page.wait_for_timeout(300)
    page.get_by_role("slider", name="Depth").press("End")
    page.wait_for_timeout(800)
    assert len(page.evaluate("written")) == 1


def test_explorer_shown_twice_on_a_page_still_moves(visit):
    page = visit("/twice.html")
    first, second = page.locator("figure.explorer").all()
    second.get_by_role("slider").press("End")
    assert second.locator(".explorer-says").inner_text().startswith("With the FFN off, 12 layers")
    assert first.locator(".explorer-says").inner_text().startswith("With the FFN off, 6 layers")


# How it looks.


def test_colours_follow_the_theme(visit):
    page = visit()
    colour = "([selector, property]) => getComputedStyle(document.querySelector(selector))[property]"
    curve = ["#one svg:nth-child(2) .explorer-moving path", "stroke"]
    title = ["#one .explorer-frame text", "fill"]
    assert page.evaluate(colour, curve) == "rgb(0, 114, 178)"
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    assert page.evaluate(colour, curve) == "rgb(74, 168, 224)"
    assert page.evaluate(colour, title) == "rgb(206, 214, 221)"
    page.emulate_media(media="print")
    assert page.evaluate(colour, curve) == "rgb(0, 114, 178)"
    expect(page.locator("#one form")).to_be_hidden()
    expect(page.get_by_text("This figure stands still").first).to_be_hidden()


@pytest.mark.parametrize("width", [1280, 390, 320])
def test_page_is_never_wider_than_the_window_and_its_text_is_legible(visit, width):
    page = visit(viewport={"width": width, "height": 844}, has_touch=width < 400, is_mobile=width < 400)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    sizes = page.evaluate(
        """() => [...document.querySelectorAll(".explorer-frame text")].map(
            (text) => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a || 99)"""
    )
    assert min(sizes) >= (9 if width == 320 else 11)
    targets = page.evaluate(
        """() => [...document.querySelectorAll(".explorer :is(label, button, input)")]
            .map((target) => target.getBoundingClientRect().height)"""
    )
    assert min(targets) >= (44 if width < 400 else 24)


def test_panels_stand_side_by_side_only_where_there_is_room(visit):
    tops = "() => [...document.querySelectorAll('#one svg')].map((svg) => svg.getBoundingClientRect().top)"
    first, second = visit().evaluate(tops)
    assert first == second
    first, second = visit(viewport={"width": 390, "height": 844}).evaluate(tops)
    assert first < second


@pytest.mark.parametrize(("width", "pixels"), [(1280, 1), (390, 2)])
def test_cells_of_a_heat_map_keep_sharp_edges(visit, width, pixels):
    page = visit(viewport={"width": width, "height": 900}, device_scale_factor=pixels)
    image = page.locator("#one .explorer-moving image")
    drawn = np.asarray(Image.open(io.BytesIO(image.screenshot())).convert("RGB"))
    inner = drawn[8:-8, 8:-8].reshape(-1, 3)  # away from the frame of the axes
    colours = len(np.unique(inner, axis=0))
    assert 12 < colours <= 12 * 13 / 2  # the matrix is symmetric, and blurred edges would add to them


def test_focus_can_be_seen(visit):
    page = visit()
    page.get_by_role("slider", name="Depth").press("End")
    ring = "(element) => getComputedStyle(element).outlineStyle"
    assert page.get_by_role("slider", name="Depth").evaluate(ring) == "solid"
    page.locator("#one input[name=ffn]").first.focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("#one input[name=ffn]:checked + span").evaluate(ring) == "solid"
