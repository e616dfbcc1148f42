-- Runs are cancelled by a filter, too.
alter table holdfast_internal.operations drop constraint operations_kind_check;
alter table holdfast_internal.operations add constraint operations_kind_check
  check (kind in ('redrive', 'resolve', 'discard', 'replay', 'retry', 'cancel', 'cancel_runs'));
