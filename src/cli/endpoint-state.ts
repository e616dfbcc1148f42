import type { EndpointHealth } from '../storage/endpoint-health.ts'
import type { Colour } from './paint.ts'

type State = EndpointHealth['state'] | EndpointHealth['circuit']['state']

const colours: Readonly<Record<State, Colour>> = {
  active: 'green',
  closed: 'green',
  paused: 'yellow',
  held: 'yellow',
  half_open: 'yellow',
  rejecting: 'red',
  disabled: 'red',
  open: 'red',
}

export function stateColour(state: State): Colour {
  return colours[state]
}
