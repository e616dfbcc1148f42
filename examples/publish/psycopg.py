"""An event in a psycopg transaction. Python is no dependency of Holdfast: our test sends the statements below through another client,
each %s as a parameter, as psycopg does."""

import json

INSERT_ORDER = """insert into orders (id, total) values (%s, %s)"""
PUBLISH = """select holdfast.publish(%s, %s::jsonb, %s::jsonb)"""


def place_order(connection, order):
    # psycopg commits when the block ends, and rolls back when it raises.
    with connection.transaction():
        connection.execute(INSERT_ORDER, (order["id"], order["total"]))
        options = {"orderingKey": f"order-{order['id']}"}
        connection.execute(PUBLISH, ("order.created", json.dumps(order), json.dumps(options)))
        if order["total"] <= 0:
            raise ValueError(f"order {order['id']} is worth nothing")
