-- Waits in the queue of one worker on the broker, although others could execute it: when that worker is gone or takes too long, the run returns.
alter table holdfast_internal.run_claims add column may_move boolean not null default false;
