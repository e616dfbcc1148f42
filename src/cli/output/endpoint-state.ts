import type { ResultOf } from '../../contract/operation.ts'
import type { Operations } from '../../contract/operations.ts'
import type { Colour } from './paint.ts'

type Health = ResultOf<Operations['endpoints']['health']>
type State = Health['state'] | Health['circuit']['state']

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
