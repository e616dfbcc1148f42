import { Link } from '@tanstack/react-router'
import { Empty } from '../parts/empty.tsx'
import { PageTitle } from '../parts/page-title.tsx'

export function NotFound() {
  return (
    <>
      <PageTitle title="Not found" />
      <div className="card">
        <Empty icon="search" title="There is no such page">
          <Link to="/" className="button">
            Open the overview
          </Link>
        </Empty>
      </div>
    </>
  )
}
