"""Answers path queries from ladybug, one JSON line in and one out. The files of the graph are in the folder given."""

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
        started = time.perf_counter()
        result = connection.execute(prepared[asked["query"]], {"start": asked["start"]})
        rows = result.get_all()
        elapsed = time.perf_counter() - started
        print(json.dumps({"us": elapsed * 1e6, "rows": rows}), flush=True)


main()
