import './style.css'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { goToSignIn, may, session } from './api/session.ts'
import { followStream } from './live/follow-stream.ts'
import { whenOutageEnds } from './live/outage.ts'
import { router } from './router.tsx'

const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // What failed is asked again by the interval of its page, which says so meanwhile.
      retry: false,
      staleTime: 1000,
      refetchOnWindowFocus: true,
      networkMode: 'always',
    },
    mutations: { retry: false, networkMode: 'always' },
  },
})

const root = document.querySelector('#app')
if (root !== null) {
  if ((session as unknown) === null) goToSignIn()
  else {
    if (may('read')) followStream(queryClient)
    whenOutageEnds(() => void queryClient.invalidateQueries({ type: 'active' }))
    createRoot(root).render(
      <StrictMode>
        <QueryClientProvider client={queryClient}>
          <RouterProvider router={router} />
        </QueryClientProvider>
      </StrictMode>,
    )
  }
}
