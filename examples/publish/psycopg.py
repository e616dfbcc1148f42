"""An event in a psycopg transaction. Our tests run this program under Python with a stand-in for the connection, and send what it executes to
PostgreSQL through another client, each placeholder as a parameter, as psycopg does."""

import json

INSERT_ORDER = "insert into orders (id, total) values (%s, %s)"
PUBLISH = "select holdfast.publish(%(type)s, %(payload)s::jsonb, %(options)s::jsonb)"


def place_order(connection, order):
    # psycopg commits when the block ends, and rolls back when it raises.
    with connection.transaction():
        connection.execute(INSERT_ORDER, (order["id"], order["total"]))
        event = {
            "type": "order.created",
            "payload": json.dumps(order),
            "options": json.dumps({"orderingKey": f"order-{order['id']}"}),
        }
        connection.execute(PUBLISH, event)
        if order["total"] <= 0:
            raise ValueError(f"order {order['id']} is worth nothing")
