import { State } from './state.tsx'

/** In a list the worse of two facts: what somebody or something set, and what the circuit says. */
export function EndpointState({ state, circuit }: { readonly state: string; readonly circuit: string }) {
  if (circuit !== 'closed' && (state === 'active' || state === 'held')) {
    return <State kind="circuit" value={circuit} />
  }
  return <State kind="endpoint" value={state} />
}
