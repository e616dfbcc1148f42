import {
  keepPreviousData,
  type UseInfiniteQueryResult,
  type UseQueryResult,
  useInfiniteQuery,
  useQuery,
} from '@tanstack/react-query'
import { useMemo } from 'react'
import { useLiveMode } from '../live/live-mode.ts'
import { retryDelayMs } from '../live/outage.ts'
import { type ApiProblem, ApiProblem as Problem } from './api-problem.ts'
import { type Answer, call, type Input } from './call.ts'
import type { CallName } from './calls.ts'

/** What of the stream makes an answer stale: traffic, dead letters, or changes of settings. */
export type Topic = 'traffic' | 'letters' | 'changes'

export interface ApiOptions {
  /** Left out: nothing in the stream tells, so it is asked again every ten seconds. */
  readonly topics?: readonly Topic[]
  /** How often it is asked again while live; the stream does the rest. */
  readonly pollMs?: number
  readonly enabled?: boolean
}

const pollingMs = 10_000

function useRefetch({ topics, pollMs }: ApiOptions) {
  const mode = useLiveMode()
  return (query: { readonly state: { readonly error: unknown } }): number | false => {
    const { error } = query.state
    if (error instanceof Problem && error.isOutage) return retryDelayMs()
    if (mode === 'paused') return false
    if (pollMs !== undefined) return pollMs
    return topics === undefined || mode === 'polling' ? pollingMs : false
  }
}

/** The answer of a call, kept fresh while it is looked at. */
export function useApi<Name extends CallName>(
  name: Name,
  input: Input<Name>,
  options: ApiOptions = {},
): UseQueryResult<Answer<Name>, ApiProblem> {
  return useQuery<Answer<Name>, ApiProblem>({
    queryKey: [name, input],
    queryFn: ({ signal }) => call(name, input, signal),
    placeholderData: keepPreviousData,
    meta: { topics: options.topics ?? [] },
    enabled: options.enabled ?? true,
    refetchInterval: useRefetch(options),
  } as Parameters<typeof useQuery<Answer<Name>, ApiProblem>>[0])
}

interface Page {
  readonly data: readonly unknown[]
  readonly nextCursor: string | null
}

export type ItemOf<Name extends CallName> =
  Answer<Name> extends { data: readonly (infer Item)[]; nextCursor: string | null } ? Item : never

export interface ListResult<Item> {
  readonly rows: readonly Item[]
  readonly isFirstLoad: boolean
  readonly error: ApiProblem | null
  readonly hasMore: boolean
  readonly isLoadingMore: boolean
  readonly loadMore: () => void
  readonly refetch: () => void
  readonly updatedAtMs: number
}

/** A list by its pages, more of them as somebody scrolls. */
export function useList<Name extends CallName>(
  name: Name,
  input: Input<Name>,
  options: ApiOptions = {},
): ListResult<ItemOf<Name>> {
  const result = useInfiniteQuery({
    queryKey: [name, input, 'pages'],
    queryFn: async ({ pageParam, signal }) => {
      const { query = {} } = input as { readonly query?: object }
      const asked = { ...input, query: { ...query, ...(pageParam !== null && { cursor: pageParam }) } }
      return (await call(name, asked as Input<Name>, signal)) as unknown as Page
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page: Page) => page.nextCursor,
    placeholderData: keepPreviousData,
    meta: { topics: options.topics ?? [] },
    enabled: options.enabled ?? true,
    refetchInterval: useRefetch(options),
    maxPages: 200,
  }) as UseInfiniteQueryResult<{ readonly pages: readonly Page[] }, ApiProblem>
  const pages = result.data?.pages
  const rows = useMemo(() => (pages?.flatMap((page) => page.data) ?? []) as ItemOf<Name>[], [pages])
  return {
    rows,
    isFirstLoad: result.isPending,
    error: result.error,
    hasMore: result.hasNextPage,
    isLoadingMore: result.isFetchingNextPage,
    loadMore: () => {
      if (!result.isFetchingNextPage) void result.fetchNextPage()
    },
    refetch: () => void result.refetch(),
    updatedAtMs: result.dataUpdatedAt,
  }
}
