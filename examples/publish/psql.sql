-- An event in a transaction of psql, or of anything else that sends text: psql -f psql.sql
begin;
insert into orders (id, total) values (17, 99);
select holdfast.publish('order.created', '{"id": 17, "total": 99}', '{"orderingKey": "order-17"}');
select holdfast.publish_batch('[
  {"type": "order.paid", "payload": {"id": 17}},
  {"type": "order.packed", "payload": {"id": 17}, "deliverAt": "2030-01-31T09:00:00Z"}
]');
commit;
