import { Link, useParams } from '@tanstack/react-router'
import { useApi } from '../../api/use-api.ts'
import { Loaded } from '../../parts/loaded.tsx'
import { PageTitle } from '../../parts/page-title.tsx'
import { Time } from '../../parts/time.tsx'
import { RouteActions } from './route-actions.tsx'
import { RouteEditor } from './route-editor.tsx'
import { Enabled } from './routes-page.tsx'

/** Which events does it take, and in what shape do they arrive? */
export function RoutePage() {
  const { name } = useParams({ from: '/routes/$name' })
  const route = useApi('routes.get', { params: { name } }, { topics: ['changes'] })
  return (
    <>
      <PageTitle
        title={name}
        section="Routes"
        states={route.data !== undefined && <Enabled isEnabled={route.data.enabled} />}
        hint={
          route.data !== undefined && (
            <>
              to{' '}
              <Link to="/endpoints/$name" params={{ name: route.data.endpoint }}>
                {route.data.endpoint}
              </Link>
              , changed <Time at={route.data.updatedAt} as="ago" /> ago
            </>
          )
        }
        actions={route.data !== undefined && <RouteActions route={route.data} />}
      />
      <Loaded of={route}>{(data) => <RouteEditor key={data.name} route={data} />}</Loaded>
    </>
  )
}
