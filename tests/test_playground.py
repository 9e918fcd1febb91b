"""The playground in a browser: from a file, by hand and by keyboard, and where something is missing."""

from __future__ import annotations

import gzip
import html
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from encoderlab.chapters.playground.figures import Playground, lessons, tries
from encoderlab.chapters.playground.measured import found
from encoderlab.chapters.playground.script import ENGINE, bundle, script
from page_polish import once

PAGE = (
    '<!doctype html><html lang="en" data-theme="light"><head><meta charset="utf-8"><title>Playground</title>'
    '<meta name="viewport" content="width=device-width, initial-scale=1"></head>'
    "<body>{before}{figure}{after}</body></html>"
)
# Notes what the page tells its worker, and where pictures are saved.
LISTEN = """
window.told = [];
const tell = Worker.prototype.postMessage;
Worker.prototype.postMessage = function (message) { told.push(message.type); tell.call(this, message); };
"""
SLOW = 120_000  # milliseconds; a busy machine takes its time
CLIPBOARD = "Object.defineProperty(navigator, 'clipboard', { value: { writeText: async (text) => { %s } } });"
Visit = Callable[..., Page]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Write the figure into pages, and return where they are."""
    folder: Path = tmp_path_factory.mktemp("playground")
    figure = Playground().figure(link=True)
    space = "<p>" + "Prose. " * 6000 + "</p>"
    both = "".join(Playground(name, "task=moons").figure(link=True) for name in lessons())
    pages = {
        "index": ("", figure, ""),
        "far": ("", figure, space),
        "frame": ("", Playground().frame(), ""),
        "lessons": ("", once(both), ""),
    }
    for name, (before, middle, after) in pages.items():
        text = PAGE.format(before=before, figure=middle, after=after)
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return folder.as_uri()


@pytest.fixture
def visit(browser: Browser, address: str) -> Iterator[Visit]:
    """Open pages with `visit(rest of the address, ready=True, script to run first, **context options)`."""
    contexts, complaints = [], []

    def open_page(
        rest: str = "/index.html", *, ready: bool = True, before: str = "", **options: object
    ) -> Page:
        context = browser.new_context(**({"viewport": {"width": 1280, "height": 900}} | options))
        contexts.append(context)
        context.add_init_script(LISTEN + before)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(address + rest)
        if ready:
            page.locator("figure.playground[data-ready]").wait_for(timeout=SLOW)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


def says(page: Page) -> str:
    """Return the sentence under the picture."""
    return page.locator(".pg-says").inner_text()


def steps(page: Page) -> int:
    """Return how many steps the page says have been trained."""
    return int(page.locator("[data-number=steps]").inner_text())


def train_until(page: Page, condition: str) -> None:
    """Press Train, wait until a condition on `steps` and `accuracy` (in percent) holds, and press Pause."""
    page.locator("[data-speed]").select_option("0")
    page.get_by_role("button", name="Train").click()
    page.wait_for_function(
        "() => { const number = (name) => document.querySelector(`[data-number=${name}]`).textContent;"
        "const read = (name) => parseFloat(number(name));"
        f"const steps = read('steps'), accuracy = read('accuracy'); return {condition}; }}",
        timeout=SLOW,
    )
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Train")).to_be_visible()


# Training.


def test_nothing_runs_before_train_is_pressed(visit: Visit) -> None:
    page = visit()
    page.wait_for_function("told.filter((type) => type === 'drawn').length >= 1")
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert set(page.evaluate("told")) == {"speed", "reset", "drawn"}
    assert steps(page) == 0
    assert "nothing has been trained" in says(page)


def test_rings_with_an_ffn_reach_98_percent(visit: Visit) -> None:
    page = visit("/index.html#playground?task=rings&ffn=on&depth=2")
    train_until(page, "accuracy >= 98")
    expect(page.locator(".pg-says")).to_contain_text("98 % were reached after")
    expect(page.locator(".pg-plane")).to_have_attribute("aria-label", says(page))


def test_attention_alone_does_no_better_than_the_best_line(visit: Visit) -> None:
    page = visit("/index.html#playground?task=moons&depth=8")
    train_until(page, "steps >= 150")
    accuracy, line = (int(share) for share in re.findall(r"(\d+) %", says(page)))
    assert 75 <= accuracy <= line


def test_looking_twice_solves_induction_and_shows_who_looks_at_whom(visit: Visit) -> None:
    page = visit("/index.html#playground?task=induction&depth=2")
    train_until(page, "accuracy >= 98")
    expect(page.locator(".pg-strip canvas")).to_have_count(2)
    names = page.locator(".pg-strip span").all_inner_texts()
    assert names == ["layer 1", "layer 2"]


def test_step_trains_one_step_and_reset_begins_anew(visit: Visit) -> None:
    page = visit()
    first = says(page)
    for count in (1, 2):
        page.get_by_role("button", name="Step", exact=True).click()
        expect(page.locator("[data-number=steps]")).to_have_text(str(count))
    page.get_by_role("button", name="Reset").click()
    expect(page.locator("[data-number=steps]")).to_have_text("0")
    assert says(page) == first


def test_it_pauses_out_of_sight_and_goes_on_when_seen(visit: Visit) -> None:
    page = visit("/far.html")
    page.get_by_role("button", name="Train").click()
    page.wait_for_function("told.includes('run')")
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    page.wait_for_function("told.includes('pause')")
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_function("told.filter((type) => type === 'run').length === 2")
    page.wait_for_function("parseInt(document.querySelector('[data-number=steps]').textContent) > 3")


# Controls and the address.


def test_each_control_changes_the_state_and_the_address(visit: Visit) -> None:
    page = visit()
    seen = {"task=moons"}

    def moved(changed: str) -> None:
        page.wait_for_function(f"location.hash.includes({changed!r})", timeout=SLOW)
        query = page.evaluate("location.hash.split('?')[1]")
        assert query not in seen
        seen.add(query)

    for name, changed in (
        ("FFN", "ffn=on"),
        ("Skip connection around attention", "residual=off"),
        ("LayerNorm after attention (post-LN)", "norm=post"),
        ("LayerNorm before the FFN (pre-LN)", "norm=pre"),
        ("Constant token", "constant=on"),
        ("One layer more", "depth=2"),
    ):
        page.get_by_role("button", name=name, exact=True).click()
        moved(changed)
    for control, value in (
        ("heads", "4"),
        ("width", "8"),
        ("d_ff", "64"),
        ("activation", "tanh"),
        ("lr", "0.03"),
    ):
        page.locator(f"select[data-control={control}]").select_option(value)
        moved(f"{control}={value}")
    page.get_by_role("button", name="Attention", exact=True).click()
    moved("attention=off")
    expect(page.locator("[data-control=heads]")).to_be_disabled()
    page.locator("[data-control=seed]").fill("7")
    page.locator("[data-control=seed]").press("Enter")
    moved("seed=7")
    page.get_by_role("radio", name="Induction").check()
    moved("task=induction")
    page.get_by_role("button", name="Positions").click()
    moved("positions=off")
    page.get_by_role("button", name="Causal mask").click()
    moved("causal=on")


def test_blocks_work_from_the_keyboard_and_say_what_they_do(visit: Visit) -> None:
    page = visit()
    block = page.get_by_role("button", name="FFN", exact=True)
    expect(block).to_have_attribute("aria-pressed", "false")
    block.focus()
    expect(page.locator(".pg-about")).to_contain_text("for each token alone. Off: no parameters.")
    page.keyboard.press("Space")
    expect(block).to_have_attribute("aria-pressed", "true")
    expect(block).to_be_focused()
    expect(page.locator("[data-number=parameters]")).to_have_text("· 2,258 parameters")
    page.get_by_role("radio", name="Moons").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("radio", name="Rings")).to_be_checked()
    page.get_by_role("button", name="Train").focus()
    page.keyboard.press("Enter")
    page.wait_for_function(
        "parseInt(document.querySelector('[data-number=steps]').textContent) > 0", timeout=SLOW
    )


def test_seed_out_of_range_is_taken_back(visit: Visit) -> None:
    page = visit()
    field = page.locator("[data-control=seed]")
    field.fill("-3")
    field.press("Enter")
    expect(field).to_have_value("0")


@pytest.mark.parametrize("one", tries(), ids=lambda one: one["name"])
def test_each_set_state_says_what_to_expect_and_survives_the_address(
    visit: Visit, one: dict[str, str]
) -> None:
    page = visit()
    if one["query"] != "task=moons":
        page.get_by_role("link", name=one["name"], exact=True).click()
        page.wait_for_function(f"location.hash === '#playground?{one['query']}'")
    expect(page.locator(".pg-expect")).to_contain_text(one["expect"])
    expect(page.locator(".pg-expect")).to_contain_text(found(one["query"]))
    expect(page.locator(".pg-tries [aria-current]")).to_have_text(one["name"])
    expect(page.locator(".pg-says")).to_contain_text("nothing has been trained")
    pressed = (
        "() => [...document.querySelectorAll('[aria-pressed]')].map((b) => b.getAttribute('aria-pressed'))"
    )
    before = page.evaluate(pressed)
    page.goto("about:blank")
    again = visit(f"/index.html#playground?{one['query']}")
    assert again.evaluate(pressed) == before
    expect(again.locator(".pg-tries [aria-current]")).to_have_text(one["name"])


def test_an_address_made_by_hand_falls_back_and_says_so(visit: Visit) -> None:
    page = visit("/index.html#playground?task=rings&depth=99&ffn=perhaps&seed=-1&colour=red")
    expect(page.get_by_role("radio", name="Rings")).to_be_checked()
    expect(page.locator(".pg-depth output")).to_have_text("× 1")
    for text in (
        "depth=99 is not among 1, 2, 3, 4, 5, 6, 7, 8: shown is 1.",
        "ffn=perhaps is not among on, off: shown is off.",
        "seed=-1 is not among 0 to 999: shown is 0.",
        "There is no control colour.",
    ):
        expect(page.locator(".pg-says")).to_contain_text(text)


@pytest.mark.parametrize(
    "fragment", ["#playground", "#?", "#%E0%A4%A?depth=2", "#other?task=rings", "#playground?&&="]
)
def test_other_addresses_leave_it_as_it_is(visit: Visit, fragment: str) -> None:
    expect(visit(f"/index.html{fragment}").get_by_role("radio", name="Moons")).to_be_checked()


def test_copied_link_leads_to_the_state(visit: Visit, address: str) -> None:
    page = visit(before=CLIPBOARD % "window.copied = text")
    page.get_by_role("button", name="FFN", exact=True).click()
    page.get_by_role("button", name="Copy link").click()
    expect(page.locator(".pg-note")).to_have_text("Link copied")
    assert page.evaluate("copied") == f"{address}/index.html#playground?task=moons&ffn=on"


def test_picture_is_saved(visit: Visit) -> None:
    page = visit()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save picture").click()
    assert download.value.suggested_filename == "playground.png"
    assert Path(download.value.path()).read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("width", [390, 768, 1280])
@pytest.mark.parametrize("query", ["task=checkerboard&ffn=on&depth=8", "task=two_hop&depth=8&heads=4"])
def test_it_is_never_wider_than_the_window(visit: Visit, width: int, query: str) -> None:
    page = visit(f"/index.html#playground?{query}", viewport={"width": width, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= width


# What is shown can be read, named and reached.

NAMES = """() => [...document.querySelectorAll(".pg-app [aria-label]")]
    .filter((element) => element.matches("button, a, label, select") && element.checkVisibility())
    .map((element) => [element.ariaLabel, element.matches("select") ? "" : element.innerText.trim()])"""
CONTRAST = """() => {
    const pixel = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const paint = (colours) => {
        pixel.clearRect(0, 0, 1, 1);
        for (const colour of colours) { pixel.fillStyle = colour; pixel.fillRect(0, 0, 1, 1); }
        return [...pixel.getImageData(0, 0, 1, 1).data].slice(0, 3);
    };
    const light = (colour) => colour.map((c) => c / 255)
        .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
        .reduce((sum, c, k) => sum + c * [0.2126, 0.7152, 0.0722][k], 0);
    const found = [];
    for (const element of document.querySelectorAll(".pg-app *")) {
        const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
        if (!own || !element.checkVisibility() || element.matches("option, svg *")) continue;
        const line = [];
        for (let e = element; e; e = e.parentElement) line.unshift(getComputedStyle(e));
        const behind = paint(["white", ...line.map((style) => style.backgroundColor)]);
        const opacity = line.reduce((product, style) => product * style.opacity, 1);
        const solid = paint([`rgb(${behind})`, line.at(-1).color]);
        const ink = solid.map((c, k) => behind[k] + (c - behind[k]) * opacity);
        const [low, high] = [light(behind), light(ink)].sort((a, b) => a - b);
        const idle = element.closest(":disabled") !== null;
        found.push([element.textContent, idle, (high + 0.05) / (low + 0.05)]);
    }
    return found;
}"""
DARK = "document.documentElement.dataset.theme = 'dark'"
DARK_PAGE = (
    "html{--pst-color-text-base:#ced6dd;--pst-color-background:#14181e;"
    "--pst-color-text-muted:#9ca4af;--pst-color-primary:#3fb1c5;background:#14181e}"
)


@pytest.mark.parametrize("query", ["task=moons&ffn=on", "task=two_hop&norm=pre&depth=2"])
def test_what_is_shown_on_a_button_is_in_its_name(visit: Visit, query: str) -> None:
    """Readers who speak to the page say what they see; signs are no words."""
    for name, shown in visit(f"/index.html#playground?{query}").evaluate(NAMES):
        words = re.findall(r"\w[\w ]*", shown)
        assert all(word in name for word in words), (name, shown)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("query", ["task=moons", "task=induction&depth=8&ffn=on", "task=xor_among"])
def test_text_stands_out_from_what_is_behind_it(visit: Visit, theme: str, query: str) -> None:
    """By 4.5 as WCAG asks; what is idle by 2, since it need not be read."""
    page = visit(f"/index.html#playground?{query}")
    if theme == "dark":
        page.evaluate(DARK)
        page.add_style_tag(content=DARK_PAGE)
    found = page.evaluate(CONTRAST)
    assert len(found) > 30
    assert [text for text, idle, contrast in found if contrast < (2 if idle else 4.5)] == []


@pytest.mark.parametrize("state", [*(one["query"] for one in tries()), "task=moons&ffn=on&trained"])
def test_on_a_phone_buttons_numbers_and_picture_are_seen_together(visit: Visit, state: str) -> None:
    """Where a link leads, without scrolling: before training, and once after it."""
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    page = visit(f"/index.html#playground?{state.removesuffix('&trained')}", **phone)
    if state.endswith("&trained"):
        page.get_by_role("button", name="Train").tap()
        expect(page.locator(".pg-says")).to_contain_text("98 % were reached after", timeout=SLOW)
    for part in ("[data-do=train]", "[data-do=reset]", ".pg-numbers", ".pg-plane"):
        box = page.locator(part).bounding_box()
        assert box is not None
        assert 0 <= box["x"] <= 390 - box["width"], part
        assert 0 <= box["y"] <= 844 - box["height"], part


# Inside chapters.


def test_figures_of_one_page_share_their_script(visit: Visit) -> None:
    page = visit("/lessons.html", ready=False)
    expect(page.locator("figure.playground[data-ready]")).to_have_count(len(lessons()))
    assert page.locator("style").count() == page.locator("body script:not([type])").count() == 1
    assert "run" not in page.evaluate("told")
    first, second = (page.locator(f"#{name}") for name in lessons())
    second.get_by_role("button", name="Step", exact=True).click()
    expect(second.locator("[data-number=steps]")).to_have_text("1")
    expect(first.locator("[data-number=steps]")).to_have_text("0")


@pytest.mark.parametrize(("name", "states"), lessons().items())
def test_lesson_offers_its_own_states(visit: Visit, name: str, states: list[dict[str, str]]) -> None:
    page = visit(f"/lessons.html#{name}?{states[-1]['query']}", ready=False)
    figure = page.locator(f"#{name}[data-ready]")
    expect(figure.locator(".pg-tries a")).to_have_text([one["name"] for one in states])
    expect(figure.locator(".pg-tries [aria-current]")).to_have_text(states[-1]["name"])
    expect(figure.get_by_role("radio")).to_have_count(0)
    for one in states:
        figure.get_by_role("link", name=one["name"], exact=True).click()
        expect(figure.locator(".pg-expect")).to_contain_text(f"{one['expect']} {found(one['query'])}")
        link = figure.locator(".pg-expect a")
        expect(link).to_have_attribute("href", f"playground.html#playground?{one['query']}")


def test_lessons_stand_without_javascript(visit: Visit) -> None:
    page = visit("/lessons.html", ready=False, java_script_enabled=False)
    for name, states in lessons().items():
        for one in states:
            expect(page.locator(f"#{name} .pg-drawn")).to_contain_text(found(one["query"]))


def test_first_style_and_last_script_stay() -> None:
    body = "<style>s</style>1<script>x</script><style>s</style>2<script>x</script><script>y</script>"
    assert once(body) == "<style>s</style>12<script>x</script><script>y</script>"


# Where something is missing.


def stands(page: Page, note: str) -> None:
    """Assert that the pictures drawn beforehand stand, with a note, and that nothing dead is offered."""
    expect(page.locator(".pg-drawn svg")).to_have_count(2)
    for picture in page.locator(".pg-drawn svg").all():
        expect(picture).to_be_visible()
    expect(page.locator(".pg-drawn")).to_contain_text("of the 200 points are on their side")
    expect(page.locator(".pg-still").get_by_text(note)).to_be_visible()
    expect(page.locator(".playground button:visible, .playground input:visible")).to_have_count(0)


def test_without_javascript_the_drawn_pictures_stand(visit: Visit) -> None:
    stands(visit(ready=False, java_script_enabled=False), "Training in the page takes JavaScript.")


@pytest.mark.parametrize(
    "before",
    [
        "window.Worker = class { constructor() { throw new DOMException('no', 'SecurityError'); } };",
        "delete window.Worker;",
        "window.Worker = class { terminate() {} "
        "postMessage() { setTimeout(() => this.onerror(new Event('error'))); } };",
    ],
)
def test_where_no_worker_starts_the_drawn_pictures_stand(visit: Visit, before: str) -> None:
    stands(visit(ready=False, before=before), "This figure stands still")


def test_in_print_the_drawn_pictures_stand(visit: Visit) -> None:
    page = visit()
    expect(page.locator(".pg-drawn")).to_be_hidden()
    page.emulate_media(media="print")
    expect(page.locator(".pg-drawn svg").first).to_be_visible()
    expect(page.locator(".pg-app")).to_be_hidden()


def test_the_frame_of_a_kernel_trains(visit: Visit) -> None:
    page = visit("/frame.html", ready=False)
    inside = page.frame_locator("iframe")
    inside.get_by_role("button", name="FFN", exact=True).click()
    inside.get_by_role("button", name="Train").click()
    expect(inside.locator(".pg-says")).to_contain_text("98 % were reached after", timeout=SLOW)
    expect(inside.get_by_role("button", name="Copy link")).to_be_hidden()


def test_frame_holds_the_figure_without_links() -> None:
    text = html.unescape(Playground().frame())
    assert Playground().figure(link=False) in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(("Big name",), "name: expected a-z"), (("a", "rings"), "state: expected an address such as")],
)
def test_bad_arguments_are_named(arguments: tuple[str, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Playground(*arguments)


def test_sizes_stay_within_their_budgets() -> None:
    assert len(gzip.compress(bundle(ENGINE).encode())) <= 12_000
    assert len(gzip.compress(script().encode())) <= 30_000


def test_modules_in_the_wrong_order_are_refused() -> None:
    with pytest.raises(ValueError, match="encoder imports activations, matrix, which must stand before it"):
        bundle(("encoder", "matrix"))
