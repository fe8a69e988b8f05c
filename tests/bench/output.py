"""Rows as a table for a terminal, as Markdown for docs/, and as JSON."""

import json

SCHEMA = "aurabench.bench.v1"
SIZES = {"full": "", "quick": "--quick", "smoke": "--smoke"}


def number(v: float) -> str:
    if v >= 1000:
        return f"{v:,.0f}"
    return f"{v:.3g}"


def with_spread(s: dict | None, ending: str = "") -> str:
    if s is None:
        return "-"
    if s["samples"] == 1:
        return number(s["median"]) + ending
    return f"{number(s['median'])}{ending} ({number(s['low'])} to {number(s['high'])})"


def verdict(row: dict) -> str:
    if row["met"] is None:
        return "not here" if row["against"] and row["theirs"] is None else "-"
    return "yes" if row["met"] else "NO"


def cells(row: dict) -> list[str]:
    reference = "-"
    if row["against"]:
        reference = row["against"] + (": " + with_spread(row["theirs"]) if row["theirs"] else "")
    return [row["title"], f"{with_spread(row['ours'])} {row['unit']}" if row["ours"] else "-", reference,
            with_spread(row["ratio"], "x"), row.get("goal_text", "-"), verdict(row), row["command"]]


HEAD = ["figure", "ours", "floor or peer", "ratio", "goal", "met", "command"]


def table(rows: list[dict]) -> str:
    lines = [HEAD, *map(cells, rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(HEAD))]
    return "\n".join("  ".join(c.ljust(w) for c, w in zip(line, widths)).rstrip() for line in lines)


def markdown(report: dict) -> str:
    machine, peers = report["machine"], report["peers"]
    facts = [("date", report["date"]), ("commit", report["commit"]), ("host", machine["host"]),
             ("processor", f"{machine['cpu']}, {machine['cores']} cores"),
             ("memory", f"{machine['memory_mib']:,} MiB"),
             ("system", f"{machine['system']} {machine['kernel']} {machine['arch']}"),
             ("file system", machine["file_system"]), ("SQLite", machine["sqlite"]),
             ("load when it began", machine["load"]), ("scheduling", machine["scheduler"]),
             *((name, version or "not here") for name, version in peers.items())]
    lines = [f"### {report['bench']}", "", report["summary"], "", "| " + " | ".join(HEAD) + " |",
             "|" + "---|" * len(HEAD)]
    for row in report["figures"]:
        shown = cells(row)
        lines.append("| " + " | ".join([*shown[:-1], f"`{shown[-1]}`"]) + " |")
    lines += ["", "| machine | |", "|---|---|", *(f"| {name} | {value} |" for name, value in facts), ""]
    return "\n".join(lines)


def as_json(reports: list[dict]) -> str:
    return json.dumps({"schema": SCHEMA, "benches": reports}, indent=2) + "\n"
