import { useMutation, useQueryClient } from '@tanstack/react-query'
import { announce } from '../frame/announcements.ts'
import type { ApiProblem } from './api-problem.ts'
import { type Answer, call, type Input } from './call.ts'
import type { CallName } from './calls.ts'

/** A call that changes something. What is shown is asked for again as soon as the server has answered; nothing changes before. */
export function useAction<Name extends CallName>(
  name: Name,
  options: {
    readonly said?: (answer: Answer<Name>) => string
    readonly onDone?: (answer: Answer<Name>) => void
  } = {},
) {
  const queryClient = useQueryClient()
  return useMutation<Answer<Name>, ApiProblem, Input<Name>>({
    mutationFn: (input) => call(name, input),
    onSuccess: async (answer) => {
      if (options.said !== undefined) announce(options.said(answer))
      options.onDone?.(answer)
      await queryClient.invalidateQueries({ type: 'active' })
    },
  })
}
