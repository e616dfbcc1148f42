import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { ApiProblem } from '../../api/api-problem.ts'
import { type Answer, call } from '../../api/call.ts'
import { retryBusy } from '../../api/retry-busy.ts'
import { useApi } from '../../api/use-api.ts'
import { bodyOf, type RouteDraft } from './route-draft.ts'
import { RoutePreview } from './route-preview.tsx'
import { useSettled } from './use-settled.ts'

type Preview = Answer<'routes.preview'>

/** Asks the server what the draft would make of a real event: a recent one that it could be for, or any by its id. */
export function LivePreview({
  name,
  draft,
  hasChanges,
}: {
  readonly name: string | undefined
  readonly draft: RouteDraft
  readonly hasChanges: boolean
}) {
  const [chosenId, setChosenId] = useState<string | null>(null)
  const settled = useSettled(draft)
  const type = settled.eventType.replace(/\*\*$/, '*')
  const events = useApi('storedEvents.list', {
    query: { limit: 20, ...(type !== '*' && type !== '' && { eventType: type }) },
  })
  const recent = (events.data?.data ?? []).filter((event) => event.type !== null)
  const eventId = chosenId ?? recent[0]?.id ?? null
  const event = useApi(
    'storedEvents.get',
    { params: { id: eventId ?? '' } },
    { topics: [], enabled: eventId !== null },
  )
  const body = bodyOf(settled)
  const drafted = usePreview(eventId, body === null ? null : { ...body, ...(name !== undefined && { name }) })
  const saved = usePreview(eventId, name === undefined || !hasChanges ? null : name)
  return (
    <RoutePreview
      events={recent}
      eventId={eventId}
      onChoose={setChosenId}
      event={event.data}
      preview={drafted.data}
      saved={hasChanges ? saved.data : undefined}
      problem={drafted.error ?? event.error}
    />
  )
}

function usePreview(eventId: string | null, route: object | string | null) {
  return useQuery<Preview, ApiProblem>({
    queryKey: ['route-preview', eventId, route],
    enabled: eventId !== null && route !== null,
    queryFn: ({ signal }) =>
      call('routes.preview', { body: { route: route as never, eventId: eventId ?? '' } }, signal),
    placeholderData: (before) => before,
    retry: retryBusy,
    refetchOnWindowFocus: false,
  })
}
