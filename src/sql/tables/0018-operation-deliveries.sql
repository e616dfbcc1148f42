-- Which deliveries an operation made of dead letters, so that it can say what became of them: a row for each step.
create table holdfast_internal.operation_deliveries (
  operation_id bigint not null references holdfast_internal.operations on delete cascade,
  step bigint generated always as identity,
  ids int8multirange not null,
  primary key (operation_id, step)
);
create index operations_kind on holdfast_internal.operations (kind, id);
create index replays_operation on holdfast_internal.replays (operation_id);
