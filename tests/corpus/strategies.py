#!/usr/bin/env python3
"""What sets of methods would solve of the corpus, and at what price, from the figures of `karakuri_solverbench --json FILE`.

    tests/corpus/strategies.py FILE [--most 4]

A strategy is methods in an order: each begins where the problem began, and the next one is asked where it failed. So what a strategy costs is the sum of all that
were asked; a ladder that goes on from the best so far can only be better. Time is compared with `engine` problem by problem (geometric mean over what both
solve), and in sum.
"""
import argparse
import itertools
import json
import math

SINGLE = ("sweeps", "newton-6", "newton", "path", "interior", "convex", "proximal", "anderson", "admm", "s-sweeps", "s-newton", "s-interior", "s-proximal",
          "s-flow")
TICK = 1e-7  # s, beneath which times mean nothing


def read(path):
    problems = {}
    with open(path) as file:
        for line in file:
            e = json.loads(line)
            problems.setdefault(e["problem"], {})[e["method"]] = e
    return problems


def cost(problem, strategy):
    """(solved, seconds, residual in tolerances)."""
    seconds = 0
    for name in strategy:
        if name in problem:
            seconds += problem[name]["seconds"]
            if problem[name]["solved"]:
                return True, seconds, problem[name]["residual"] / problem[name]["tolerance"]
    return False, seconds, 0


def judge(problems, strategy):
    """Solved, lost of the engine's, geometric mean and sum of times over its own, the longest over its longest, share with two digits to spare."""
    solved = lost = fine = 0
    logs, count, total, base, longest, longest_base = 0.0, 0, 0.0, 0.0, 0.0, 0.0
    for p in problems.values():
        good, seconds, residual = cost(p, strategy)
        engine = p["engine"]
        solved += good
        fine += good and residual <= 0.01
        lost += engine["solved"] and not good
        total += seconds
        base += engine["seconds"]
        longest, longest_base = max(longest, seconds), max(longest_base, engine["seconds"])
        if good and engine["solved"]:
            logs += math.log((seconds + TICK) / (engine["seconds"] + TICK))
            count += 1
    return solved, lost, math.exp(logs / max(count, 1)), total / base, longest / longest_base, fine / max(solved, 1)


def say(name, figures):
    solved, lost, mean, total, longest, fine = figures
    print(f"{name:56} {solved:6} {lost:5} {mean:8.3f} {total:8.3f} {longest:8.3f} {100 * fine:7.1f}")


def only_by(problems, names):
    """How many problems each method alone solves, and which pairs stand for each other."""
    alone = dict.fromkeys(names, 0)
    for p in problems.values():
        able = [n for n in names if n in p and p[n]["solved"]]
        if len(able) == 1:
            alone[able[0]] += 1
    return alone


def search(problems, names, most):
    """Of each length the strategies that lose least, the cheapest of them first."""
    for length in range(1, most + 1):
        found = []
        for strategy in itertools.permutations(names, length):
            found.append((judge(problems, strategy), strategy))
        found.sort(key=lambda f: (f[0][1], f[0][2]))
        for figures, strategy in found[:4]:
            say(" > ".join(strategy), figures)
        print()


def greedy(problems, names, start):
    """Adds what rescues most of what is lost, at the end."""
    strategy = list(start)
    while True:
        say(" > ".join(strategy), judge(problems, strategy))
        lost = judge(problems, strategy)[1]
        rest = [n for n in names if n not in strategy]
        best = min(rest, key=lambda n: judge(problems, [*strategy, n])[1:], default=None)
        if lost == 0 or best is None or judge(problems, [*strategy, best])[1] >= lost:
            return
        strategy.append(best)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--most", type=int, default=3, help="methods of a strategy")
    options = parser.parse_args()
    problems = read(options.file)
    names = [n for n in SINGLE if any(n in p for p in problems.values())]
    print(len(problems), "problems,", sum(p["engine"]["solved"] for p in problems.values()), "solved by the engine;",
          sum(any(p[n]["solved"] for n in p) for p in problems.values()), "by any\n")
    print("solved by one method alone:", {n: c for n, c in only_by(problems, names).items() if c}, "\n")
    print(f"{'strategy':56} {'solved':>6} {'lost':>5} {'mean':>8} {'sum':>8} {'longest':>8} {'fine %':>7}   times are shares of the engine's")
    say("engine", judge(problems, ["engine"]))
    search(problems, names, options.most)
    for first in ("newton-6", "newton", "path", "s-newton"):
        greedy(problems, names, ["warm", first])
        print()


if __name__ == "__main__":
    main()
