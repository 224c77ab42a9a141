package duckdb

import "context"

func (s *Store) SQL(ctx context.Context, statement string, columns func([]string) error, row func([]any) error) error {
	return nil
}
