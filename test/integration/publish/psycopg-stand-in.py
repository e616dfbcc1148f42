"""Runs place_order of the psycopg example with a connection that prints what it is told to do, a JSON object a line.
Usage: psycopg-stand-in.py <example> <order as JSON>"""

import contextlib
import json
import runpy
import sys


class Connection:
    @contextlib.contextmanager
    def transaction(self):
        print(json.dumps({"sql": "begin"}))
        try:
            yield
        except BaseException:
            print(json.dumps({"sql": "rollback"}))
            raise
        print(json.dumps({"sql": "commit"}))

    def execute(self, sql, parameters):
        print(json.dumps({"sql": sql, "parameters": parameters}))


place_order = runpy.run_path(sys.argv[1])["place_order"]
place_order(Connection(), json.loads(sys.argv[2]))
