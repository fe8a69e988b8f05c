"""Zones and windows against others' opinions: Python's zoneinfo, a model of nights written from the
rules on top of it, and systemd's calendar. The program asked is tests/unit/core/window_probe."""

import datetime
import functools
import os
import random
import re
import shutil
import subprocess
import zoneinfo

import pytest

import harness

PROBE = harness.BUILD / "tests/unit/core/window_probe"
UTC = datetime.timezone.utc
BEGIN = int(datetime.datetime(2020, 1, 1, tzinfo=UTC).timestamp())
END = int(datetime.datetime(2030, 1, 1, tzinfo=UTC).timestamp())
DAY_S = 86400
# Changes of 30 minutes, of two hours, at midnight, at -1 o'clock, twice a year around a month that
# moves, by rules that ended, that began, that are the law the other way round, and none at all.
ZONES = [
    "UTC", "Europe/London", "Europe/Dublin", "America/New_York", "America/Havana", "America/Nuuk",
    "America/Santiago", "America/Sao_Paulo", "America/Scoresbysund", "America/Asuncion",
    "Australia/Lord_Howe", "Pacific/Apia", "Pacific/Chatham", "Asia/Kathmandu", "Asia/Tehran",
    "Asia/Gaza", "Asia/Beirut", "Africa/Casablanca", "Africa/Cairo", "Africa/Juba",
    "Antarctica/Troll",
]
WINDOWS = [
    ("daily", "01:00", "05:00"), ("mon-fri", "22:00", "06:00"), ("sat,sun", "00:00", "00:00"),
    ("daily", "02:15", "02:45"), ("daily", "23:30", "00:30"), ("daily", "01:30", "01:30"),
    ("sun", "00:00", "03:00"), ("fri-mon", "01:59", "02:01"),
]
DAY_NAMES = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]

pytestmark = pytest.mark.skipif(not zoneinfo.available_timezones(), reason="tzdata is missing")


def ask(questions: list[str]) -> list[str]:
    # A zone in the environment must make no difference.
    run = subprocess.run([PROBE], input="\n".join(questions) + "\n", capture_output=True, text=True,
                         env={**harness.CLEAN_ENV, "TZ": "Asia/Tokyo"}, timeout=harness.PATIENCE_S)
    assert run.returncode == 0 and run.stderr == ""
    answers = run.stdout.splitlines()
    assert len(answers) == len(questions)
    return answers


def differences(questions: list[str], expected: list[str]) -> list[tuple]:
    got = ask(questions)
    return [row for row in zip(questions, got, expected) if row[1] != row[2]][:10]


@pytest.fixture
def rng():
    seed = int(os.environ.get("AURABENCH_SEED", 0)) or random.SystemRandom().getrandbits(32)
    print(f"AURABENCH_SEED={seed}")
    return random.Random(seed)


def offset(zone: str, utc_s: int) -> int:
    local = datetime.datetime.fromtimestamp(utc_s, zoneinfo.ZoneInfo(zone))
    return int(local.utcoffset().total_seconds())


def first_with_other_offset(zone: str, before: int, after: int) -> int:
    """The change between two instants, of which there is one."""
    while after - before > 1:
        middle = (before + after) // 2
        if offset(zone, middle) == offset(zone, before):
            before = middle
        else:
            after = middle
    return after


@functools.cache
def changes(zone: str) -> list[int]:
    step = DAY_S // 4
    return [first_with_other_offset(zone, t, t + step) for t in range(BEGIN, END, step)
            if offset(zone, t) != offset(zone, t + step)]


def wall_s(wall: datetime.datetime) -> int:
    return int(wall.replace(tzinfo=UTC).timestamp())


def occurrences(zone: str, wall: datetime.datetime) -> list[int]:
    """The instants at which the zone's clock shows the time; PEP 495 says how to ask."""
    aware = [wall.replace(tzinfo=zoneinfo.ZoneInfo(zone), fold=fold) for fold in (0, 1)]
    instants = sorted({int(a.timestamp()) for a in aware})
    return [u for u in instants if u + offset(zone, u) == wall_s(wall)]


@functools.cache
def wall_to_utc(zone: str, wall: datetime.datetime, which: str) -> int:
    shown = occurrences(zone, wall)
    if shown:
        return shown[0] if which == "first" else shown[-1]
    tzinfo = zoneinfo.ZoneInfo(zone)
    around = sorted(int(wall.replace(tzinfo=tzinfo, fold=fold).timestamp()) for fold in (0, 1))
    return first_with_other_offset(zone, *around)


def test_the_zones_have_changes_worth_testing():
    assert len(ZONES) >= 20
    assert len(changes("Europe/London")) == 20
    assert len(changes("Africa/Casablanca")) >= 20
    assert changes("UTC") == [] and changes("Asia/Kathmandu") == []
    assert sum(len(changes(zone)) for zone in ZONES) > 200


@pytest.mark.parametrize("zone", ZONES)
def test_offsets_are_those_of_zoneinfo(zone, rng):
    instants = [t + d for t in changes(zone) for d in (-1, 0, 1)]
    # Long after the tables end, by the rule of the footer; and before the decade.
    instants += [rng.randrange(10 * 365 * DAY_S, 130 * 365 * DAY_S) for _ in range(1000)]
    assert differences([f"offset {zone} {t}" for t in instants],
                       [str(offset(zone, t)) for t in instants]) == []


@pytest.mark.parametrize("zone", ZONES)
def test_wall_times_are_those_of_zoneinfo(zone, rng):
    epoch = datetime.datetime(1970, 1, 1)
    seconds = [t + offset(zone, t) + d for t in changes(zone) for d in range(-3 * 3600, 3 * 3601, 300)]
    seconds += [s + d for s in seconds[::12] for d in (-1, 1)]
    seconds += [rng.randrange(BEGIN, END) for _ in range(300)]
    questions, expected = [], []
    for s in seconds:
        for which in ("first", "last"):
            questions.append(f"wall {zone} {s} {which}")
            expected.append(str(wall_to_utc(zone, epoch + datetime.timedelta(seconds=s), which)))
    assert differences(questions, expected) == []


def days_of(text: str) -> set[int]:
    if text == "daily":
        return set(range(7))
    days = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        day = DAY_NAMES.index(first)
        days.add(day)
        while last and DAY_NAMES[day] != last:
            day = (day + 1) % 7
            days.add(day)
    return days


@functools.cache
def night(zone: str, window: tuple, date: datetime.date):
    """(opens, closes) in seconds of UTC, or None: the rules of the issue, word by word."""
    days, begin, end = window
    if date.weekday() not in days_of(days):
        return None
    at = [datetime.datetime.combine(date, datetime.time.fromisoformat(t)) for t in (begin, end)]
    if at[1] <= at[0]:
        at[1] += datetime.timedelta(days=1)
    opens, closes = wall_to_utc(zone, at[0], "first"), wall_to_utc(zone, at[1], "last")
    return (opens, closes) if opens < closes else None


def expected_night(zone: str, window: tuple, utc_ms: int) -> str:
    today = datetime.datetime.fromtimestamp(utc_ms // 1000, UTC).date()
    text, next_open = "shut 0 0", None
    for n in range(-3, 20):
        date = today + datetime.timedelta(days=n)
        span = night(zone, window, date)
        if span and span[0] * 1000 <= utc_ms < span[1] * 1000:
            text = f"{date} {span[0] * 1000} {span[1] * 1000}"
        if span and span[0] * 1000 > utc_ms and next_open is None:
            next_open = span[0] * 1000
    return f"{text} {next_open}"


def night_question(zone: str, window: tuple, utc_ms: int) -> str:
    return f"night {zone} {' '.join(window)} {utc_ms}"


def assert_nights(zone: str, asked: list[tuple[tuple, int]]) -> None:
    assert differences([night_question(zone, *a) for a in asked],
                       [expected_night(zone, *a) for a in asked]) == []


def random_window(rng) -> tuple:
    days = ",".join(rng.sample(DAY_NAMES, rng.randint(1, 7)))
    return (days, *(f"{rng.randrange(24):02}:{rng.randrange(60):02}" for _ in range(2)))


@pytest.mark.parametrize("zone", ZONES)
def test_nights_around_every_change_are_those_of_the_model(zone, rng):
    asked = []
    for t in changes(zone) or [BEGIN]:
        local = datetime.datetime.fromtimestamp(t, zoneinfo.ZoneInfo(zone)).date()
        for window in [*WINDOWS, random_window(rng)]:
            spans = [night(zone, window, local + datetime.timedelta(days=n)) for n in (-1, 0, 1)]
            edges = [edge * 1000 for span in spans if span for edge in span]
            edges += [t * 1000, t * 1000 + rng.randrange(-DAY_S * 1000, DAY_S * 1000)]
            asked += [(window, edge + d) for edge in edges for d in (-1, 0)]
    assert_nights(zone, asked)


@pytest.mark.parametrize("zone", ZONES)
def test_every_night_of_ten_years_is_that_of_the_model(zone):
    window = ("daily", "01:30", "05:00")
    asked, date = [], datetime.date(2020, 1, 1)
    while date < datetime.date(2030, 1, 1):
        span = night(zone, window, date)
        assert span is not None
        asked.append((window, span[0] * 1000))
        date += datetime.timedelta(days=1)
    got = ask([night_question(zone, *a) for a in asked])
    opens = [a[1] for a in asked]
    for n, answer in enumerate(got):
        day = datetime.date(2020, 1, 1) + datetime.timedelta(days=n)
        words = answer.split()
        assert words[:2] == [str(day), str(opens[n])]
        assert words[2] == str(night(zone, window, day)[1] * 1000)
        assert n + 1 == len(opens) or words[3] == str(opens[n + 1])


def systemd_openings(spec: str, base_s: int, n: int) -> list[int]:
    """The next n instants after base_s that systemd gives for a calendar expression."""
    base = datetime.datetime.fromtimestamp(base_s, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    run = subprocess.run(
        ["systemd-analyze", "calendar", f"--iterations={n}", f"--base-time={base}", spec],
        capture_output=True, text=True, env=harness.CLEAN_ENV, timeout=harness.PATIENCE_S, check=True)
    times = re.findall(r"(?:Next elapse|Iter\. #\d+|Iteration #\d+): \w+ ([-0-9]+ [:0-9]+) UTC", run.stdout)
    assert len(times) == n, run.stdout
    return [int(datetime.datetime.fromisoformat(t + "+00:00").timestamp()) for t in times]


def our_openings(zone: str, window: tuple, begin_s: int, end_s: int) -> list[int]:
    # Two openings may be 22 hours apart; asked every 6, none is missed.
    asked = [night_question(zone, window, t * 1000) for t in range(begin_s, end_s, DAY_S // 4)]
    return sorted({int(a.split()[3]) // 1000 for a in ask(asked)})


SYSTEMD = [("daily", "*-*-*"), ("mon-fri", "Mon..Fri *-*-*"), ("sat,sun", "Sat,Sun *-*-*")]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is missing")
@pytest.mark.parametrize("zone", ZONES)
def test_openings_are_those_of_systemd_where_the_time_is_shown_once(zone, rng):
    """systemd passes over a time that the clock skips, and picks either of two: those days are left
    out here, and only those."""
    compared = 0
    for t in changes(zone) or [BEGIN]:
        days, spec = rng.choice(SYSTEMD)
        clock = rng.choice(["00:00", "00:30", "01:30", "02:00", "02:30", "03:15", "23:30"])
        base = t - 3 * DAY_S
        theirs = systemd_openings(f"{spec} {clock}:00 {zone}", base, 7)
        ours = our_openings(zone, (days, clock, "12:00"), base, theirs[-1])

        def shown(utc_s):
            local = datetime.datetime.fromtimestamp(utc_s, zoneinfo.ZoneInfo(zone))
            wall = local.replace(tzinfo=None, fold=0)
            return f"{wall:%H:%M}", len(occurrences(zone, wall))

        ours = [u for u in ours if shown(u) == (clock, 1)]
        theirs = [u for u in theirs if shown(u)[1] == 1]
        assert ours == theirs, (days, clock, t)
        compared += len(ours)
    assert compared >= 5


@pytest.mark.parametrize(
    ("question", "code"),
    [
        ("offset Europe/Nowhere 0", "window.unknown_zone"),
        ("offset ../../../etc/passwd 0", "window.unknown_zone"),
        ("offset Europe 0", "window.unknown_zone"),
        ("offset leapseconds 0", "window.bad_zone"),
        ("offset right/Europe/London 0", "window.bad_zone"),
        ("night UTC weekdays 01:00 05:00 0", "window.bad"),
    ],
)
def test_what_is_no_zone_or_window_is_refused_by_code(question, code):
    name = question.split()[1]
    if code == "window.bad_zone" and not os.path.exists(f"/usr/share/zoneinfo/{name}"):
        pytest.skip(f"this machine's tzdata has no {name}")
    assert ask([question]) == [code]


def test_every_zone_of_the_machine_is_read():
    names = sorted(zoneinfo.available_timezones())
    now = BEGIN + 5 * 365 * DAY_S
    assert len(names) > 300
    assert differences([f"offset {name} {now}" for name in names],
                       [str(offset(name, now)) for name in names]) == []
