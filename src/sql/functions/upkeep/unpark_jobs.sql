-- For nodes and workers of earlier versions: runs that wait aside for their job need nobody to bring them back any more.
create or replace function holdfast_internal.unpark_jobs() returns integer
language sql as $$ select 0 $$;
