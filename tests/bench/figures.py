"""What a benchmark promises and what came out: figures, goals, and how one is judged by the other.

A ratio is ours over theirs, taken sample by sample: the two were measured in turn, so that whatever
the machine did met both. What is shown is the median, with the quartiles beside it."""

import math
import statistics
from dataclasses import dataclass, field
from typing import Callable


class BenchError(Exception):
    """A benchmark that could not be carried out: one sentence."""


@dataclass(frozen=True)
class Goal:
    kind: str  # "ratio_at_least", "ratio_at_most", "below", "no_more", "value_at_least"
    value: float

    def text(self) -> str:
        words = {"ratio_at_least": f"at least {self.value:g}x", "ratio_at_most": f"at most {self.value:g}x",
                 "below": f"under {self.value:g}", "no_more": f"at most {self.value:g}",
                 "value_at_least": f"at least {self.value:g}"}
        return words[self.kind]

    def met(self, value: float, ratio: float | None) -> bool:
        if self.kind == "below":
            return value < self.value
        if self.kind == "no_more":
            return value <= self.value
        if self.kind == "value_at_least":
            return value >= self.value
        if ratio is None:
            return False
        return ratio >= self.value if self.kind == "ratio_at_least" else ratio <= self.value


def at_least(ratio: float) -> Goal:
    return Goal("ratio_at_least", ratio)


def at_most(ratio: float) -> Goal:
    return Goal("ratio_at_most", ratio)


def below(value: float) -> Goal:
    return Goal("below", value)


def no_more(value: float) -> Goal:
    return Goal("no_more", value)


def value_at_least(value: float) -> Goal:
    return Goal("value_at_least", value)


@dataclass(frozen=True)
class Figure:
    """title and against may hold {counts} of the sizes that a run has."""

    key: str
    title: str
    unit: str
    against: str | None = None  # what the ratio is to; None: no ratio
    peer: str | None = None  # the foreign program that must be here for it
    goal: Goal | None = None


@dataclass(frozen=True)
class Samples:
    ours: list[float]
    theirs: list[float] | None = None


@dataclass(frozen=True)
class Part:
    """Figures that are measured together. run(stage) gives the samples of each by its key."""

    name: str
    figures: list[Figure]
    run: Callable


@dataclass(frozen=True)
class Bench:
    name: str
    summary: str
    parts: list[Part]
    sizes: dict[str, dict]  # "full", "quick", "smoke" -> counts by name
    peers: list[str] = field(default_factory=list)


def spread(samples: list[float]) -> dict:
    if len(samples) == 1:
        return {"median": samples[0], "low": samples[0], "high": samples[0], "samples": 1}
    low, _, high = statistics.quantiles(samples, n=4, method="inclusive")
    return {"median": statistics.median(samples), "low": low, "high": high, "samples": len(samples)}


def check_samples(figure: Figure, samples: Samples) -> None:
    for whose, values in (("ours", samples.ours), ("theirs", samples.theirs)):
        if values is None:
            continue
        if not values or not all(math.isfinite(v) and v > 0 for v in values):
            raise BenchError(f"{figure.key}: the samples of {whose} are no figures: {values}")
    if samples.theirs is not None and len(samples.ours) != len(samples.theirs):
        raise BenchError(f"{figure.key}: {len(samples.ours)} samples of ours, {len(samples.theirs)} of theirs")


def judge(figure: Figure, samples: Samples | None, sizes: dict) -> dict:
    """The row of the table. samples None: its peer is not here, and nothing is said of the goal."""
    words = {k: f"{v:,}" if isinstance(v, int) else v for k, v in sizes.items()}
    row = {"key": figure.key, "title": figure.title.format(**words), "unit": figure.unit,
           "ours": None, "against": None, "theirs": None, "ratio": None, "goal": None, "met": None}
    if figure.against:
        row["against"] = figure.against.format(**words)
    if figure.goal:
        row["goal"] = {"kind": figure.goal.kind, "value": figure.goal.value}
        row["goal_text"] = figure.goal.text()
    if samples is None:
        return row
    check_samples(figure, samples)
    row["ours"] = spread(samples.ours)
    if samples.theirs is not None:
        row["theirs"] = spread(samples.theirs)
        row["ratio"] = spread([a / b for a, b in zip(samples.ours, samples.theirs)])
    elif figure.against:
        return row
    if figure.goal:
        ratio = row["ratio"]["median"] if row["ratio"] else None
        row["met"] = figure.goal.met(row["ours"]["median"], ratio)
    return row
