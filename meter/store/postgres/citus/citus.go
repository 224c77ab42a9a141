// Package citus spreads the tables of a metering store over the machines of Citus, a distributed PostgreSQL.
package citus

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Distribute has Citus spread the tables over its machines by channel, and copy small ones to all, if the database has it.
func Distribute(ctx context.Context, c *pgx.Conn) (bool, error) {
	var there bool
	if err := c.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')").Scan(&there); err != nil || !there {
		return false, err
	}
	for _, name := range small() {
		if _, err := c.Exec(ctx, "SELECT create_reference_table($1)", name); err != nil {
			return false, fmt.Errorf("make %s a reference table of Citus: %w", name, err)
		}
	}
	for _, t := range spreads() {
		if _, err := c.Exec(ctx, "SELECT create_distributed_table($1, $2)", t.name, t.by); err != nil {
			return false, fmt.Errorf("spread %s over the machines of Citus: %w", t.name, err)
		}
	}
	return true, nil
}

// small lists the tables of which Citus keeps a copy on each machine.
func small() []string {
	return []string{"meter_layout", "meter_model", "meter_channel", "meter", "meter_point", "meter_installation", "meter_source", "meter_day"}
}

// spread is a table that Citus spreads over its machines by a column.
type spread struct{ name, by string }

// spreads lists them. The others stay on the machine that the node connects to.
func spreads() []spread {
	return []spread{
		{"meter_intervals", "channel"}, {"meter_use", "channel"}, {"meter_redo", "channel"}, {"meter_arrived", "bucket"}, {"meter_bucket", "bucket"},
	}
}
