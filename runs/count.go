package runs

import "context"

// Count is how many runs of a kind are in a state. Busy ones have something to do, or a
// command waiting; of those that are not over, the others wait to be told.
type Count struct {
	Kind  Kind
	State State
	Busy  bool
	Runs  int64
}

// Count counts all runs of the store, sorted by kind, state and busy. It reads the
// index alone: a run whose driver was killed is counted as it was last indexed.
func (s *Store) Count(ctx context.Context) ([]Count, error) {
	conn, err := s.index.complete(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := conn.QueryContext(ctx, `SELECT kind, state, busy, count(*) FROM runs GROUP BY kind, state, busy ORDER BY kind, state, busy`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []Count
	for rows.Next() {
		var c Count
		if err := rows.Scan(&c.Kind, &c.State, &c.Busy, &c.Runs); err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, rows.Err()
}
