import { Link } from '@tanstack/react-router'
import { PageTitle } from '../../parts/page-title.tsx'
import { ChecksCard } from './checks-card.tsx'
import { NodesCard } from './nodes-card.tsx'
import { TablesCard } from './tables-card.tsx'
import { UpkeepCard } from './upkeep-card.tsx'

/** Is Holdfast itself well? */
export function SystemPage() {
  return (
    <>
      <PageTitle
        title="System"
        actions={
          <Link to="/broker" className="button">
            Broker
          </Link>
        }
      />
      <NodesCard />
      <ChecksCard />
      <UpkeepCard />
      <TablesCard />
    </>
  )
}
