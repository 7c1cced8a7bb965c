"""What is asked of a program beside what it does, and both as tables."""

from dataclasses import dataclass

from costs import middle


@dataclass(frozen=True)
class Goal:
    what: str
    ours: float
    theirs: float  # what ours is to be at most
    unit: str

    @property
    def holds(self):
        return self.ours <= self.theirs


def goal_table(goals):
    """Rows of a Markdown table."""
    yield "| goal | hfcache | at most | of it | holds |"
    yield "|---|---|---|---|---|"
    for goal in goals:
        share = f"{goal.ours / goal.theirs:.2f}" if goal.theirs else "-"
        ours, theirs = (f"{value:.2f} {goal.unit}" for value in (goal.ours, goal.theirs))
        yield f"| {goal.what} | {ours} | {theirs} | {share} | {'yes' if goal.holds else 'no'} |"


def cost_table(costs):
    """Of {(part, program): [Cost of each run]}."""
    yield "| part | program | wall s: least, median | CPU s | peak MB |"
    yield "|---|---|---|---|---|"
    for (part, name), runs in costs.items():
        wall = f"{min(run.wall_seconds for run in runs):.2f}, {middle(runs, 'wall_seconds'):.2f}"
        cpu, peak = middle(runs, "cpu_seconds"), middle(runs, "peak_bytes") / 1e6
        yield f"| {part} | {name} | {wall} | {cpu:.2f} | {peak:.0f} |"
