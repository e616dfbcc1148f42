-- One name for one thing over SQL, API, environment and docs.
update holdfast_internal.settings set name = 'dead_letter_retention_days' where name = 'dlq_retention_days';
update holdfast_internal.settings set name = 'archive_retention_months' where name = 'messages_retention_months';
-- 0: as long as messages.
update holdfast_internal.settings as attempts set value = '0' from holdfast_internal.settings as archive
where attempts.name = 'attempts_retention_months' and archive.name = 'archive_retention_months' and attempts.value = archive.value;

-- A position of the upkeep is no setting.
insert into holdfast_internal.keeper_rounds (name, next_at, position)
select 'kept', '-infinity', (value #>> '{}')::bigint from holdfast_internal.settings where name = 'kept_cursor'
on conflict do nothing;
delete from holdfast_internal.settings where name = 'kept_cursor';

alter table holdfast_internal.settings add column changed_at timestamptz, add column changed_by text;

-- Settings that a living node was given by a flag, the environment, a config file or its options: nobody may change them elsewhere.
create table holdfast_internal.setting_pins (
  incarnation integer not null references holdfast_internal.nodes (incarnation) on delete cascade,
  name text not null,
  -- Where: 'the environment variable HOLDFAST_MAX_PENDING'.
  source text not null,
  primary key (incarnation, name)
);
