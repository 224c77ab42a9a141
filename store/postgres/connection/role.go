package connection

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"
)

// StatementRole is the role with whose rights people's statements on the views of a schema run.
func StatementRole(schema string) string {
	schema = cmp.Or(schema, DefaultSchema)
	return schema[:min(len(schema), 53)] + "_statement"
}

// MeterViews are the views of a metering store.
func MeterViews() []string {
	return []string{"meters", "channels", "readings", "reading_versions", "meter_events"}
}

// LetReadings lets a role read the views of a metering store in a schema, if both exist.
func LetReadings(ctx context.Context, c *pgx.Conn, role, schema string) error {
	var there bool
	err := c.QueryRow(ctx, `SELECT has_table_privilege(session_user, v, 'SELECT WITH GRANT OPTION') AND NOT has_table_privilege(r.oid, v, 'SELECT')
		FROM pg_roles r, to_regclass($2) v WHERE r.rolname = $1 AND v IS NOT NULL`, role, schema+".meter_events").Scan(&there)
	if errors.Is(err, pgx.ErrNoRows) || (err == nil && !there) {
		return nil
	}
	if err == nil {
		_, err = c.Exec(ctx, "GRANT SELECT ON "+schema+"."+strings.Join(MeterViews(), ", "+schema+".")+" TO "+role)
	}
	return err
}
