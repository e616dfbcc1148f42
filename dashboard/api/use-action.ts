import { useMutation, useQueryClient } from '@tanstack/react-query'
import { announce } from '../frame/announcements.ts'
import { offerUndo } from '../parts/undo.ts'
import type { ApiProblem } from './api-problem.ts'
import { type Answer, call, type Input } from './call.ts'
import type { CallName } from './calls.ts'

/** A call that changes something. What is shown is asked for again as soon as the server has answered; nothing changes before. */
export function useAction<Name extends CallName>(
  name: Name,
  options: {
    readonly said?: (answer: Answer<Name>) => string
    readonly onDone?: (answer: Answer<Name>) => void
    /** The inverse call, for what can be taken back: see `undoBy`. Offered for ten seconds beside what was `said`. */
    readonly undo?: (input: Input<Name>, answer: Answer<Name>) => () => Promise<unknown>
  } = {},
) {
  const queryClient = useQueryClient()
  return useMutation<Answer<Name>, ApiProblem, Input<Name>>({
    mutationFn: (input) => call(name, input),
    onSuccess: async (answer, input) => {
      const text = options.said?.(answer)
      if (text !== undefined && options.undo !== undefined) offerUndo(text, options.undo(input, answer))
      else if (text !== undefined) announce(text)
      options.onDone?.(answer)
      await queryClient.invalidateQueries({ type: 'active' })
    },
  })
}
