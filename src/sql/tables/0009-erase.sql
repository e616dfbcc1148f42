-- A message whose payload was removed on request; its row stays, so that people see that it was there.
alter table holdfast_internal.messages add column erased_at timestamptz;
alter table holdfast_internal.messages_kept add column erased_at timestamptz;

alter table holdfast_internal.dead_letters drop constraint dead_letters_state_check;
alter table holdfast_internal.dead_letters add constraint dead_letters_state_check
  check (state in ('open', 'redriven', 'resolved', 'discarded', 'erased'));
