package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"voltbus/store/postgres/connection"
)

// tempFiles is how much of the server's disk one connection for statements may use, if the server lets the node set it.
const tempFiles = "1GB"

// askRole queries whether the session may act as the role $1, and whether that may read the views of the schema $2.
const askRole = `SELECT coalesce((SELECT pg_has_role(session_user, oid, 'MEMBER') AND has_schema_privilege(oid, $2, 'USAGE')
	AND has_table_privilege(oid, $2 || '.samples', 'SELECT') AND has_table_privilege(oid, $2 || '.points', 'SELECT')
	FROM pg_roles WHERE rolname = $1), false)`

var errRole = errors.New("the role is not granted to the node's user")

// SQLRole is the role with whose rights people's statements run: it may only read the views of the history.
func (o *Options) SQLRole() string { return connection.StatementRole(o.Schema) }

// restrict creates the role of statements, if the user may, and lets it read the views. If it cannot be created, or if
// nothing limits temporary files, the log says once which commands help. The caller holds write.
func (s *schema) restrict(ctx context.Context) {
	role, schema := s.options.SQLRole(), s.options.Schema
	if err := s.makeRole(ctx, role, schema); err != nil {
		s.options.Log.WarnContext(ctx, "statements in SQL have the rights of the node's user, and are judged by a list alone; as a superuser of the server run what run says",
			"run", fmt.Sprintf("CREATE ROLE %[1]s; GRANT USAGE ON SCHEMA %[2]s TO %[1]s; GRANT SELECT ON %[2]s.samples, %[2]s.points TO %[1]s; GRANT %[1]s TO %[3]s", role, schema, s.user(ctx)), "err", err)
	}
	s.letReadings(ctx, role, schema)
	var limit string
	if err := s.Conn.QueryRow(ctx, "SELECT current_setting('temp_file_limit')").Scan(&limit); err != nil || limit != "-1" {
		return
	}
	if _, err := s.Conn.Exec(ctx, "SET temp_file_limit = '"+tempFiles+"'"); err != nil {
		s.options.Log.WarnContext(ctx, "a statement in SQL may fill the server's disk until its minute is over; as a superuser of the server run what run says",
			"run", fmt.Sprintf("ALTER ROLE %s SET temp_file_limit = '%s'", pgx.Identifier{s.config.User}.Sanitize(), tempFiles))
		return
	}
	_, _ = s.Conn.Exec(ctx, "RESET temp_file_limit") // it was only a test
}

func (s *schema) user(ctx context.Context) string {
	var name string
	if err := s.Conn.QueryRow(ctx, "SELECT quote_ident(current_user)").Scan(&name); err != nil {
		return pgx.Identifier{s.config.User}.Sanitize()
	}
	return name
}

// makeRole creates the role and lets it read the views, unless it is already usable.
func (s *schema) makeRole(ctx context.Context, role, schema string) error {
	var may, there bool
	if err := s.Conn.QueryRow(ctx, askRole, role, schema).Scan(&may); err != nil || may {
		return err
	}
	if err := s.Conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1)", role).Scan(&there); err != nil {
		return err
	}
	list := []string{"GRANT USAGE ON SCHEMA " + schema + " TO " + role, "GRANT SELECT ON " + schema + ".samples, " + schema + ".points TO " + role}
	if !there {
		list = append([]string{"CREATE ROLE " + role + " NOLOGIN", "GRANT " + role + " TO current_user"}, list...)
	}
	for _, statement := range list {
		if _, err := s.Conn.Exec(ctx, statement); err != nil && connection.StateOf(err) != connection.StateThere { // another node may do the same
			return err
		}
	}
	err := s.Conn.QueryRow(ctx, askRole, role, schema).Scan(&may)
	if err == nil && !may {
		err = errRole
	}
	return err
}

// letReadings lets the role read meter readings, if they are stored in the same schema. The metering store does so too: the
// later of the two finds both role and views.
func (s *schema) letReadings(ctx context.Context, role, schema string) {
	if err := connection.LetReadings(ctx, s.Conn, role, schema); err != nil {
		s.options.Log.WarnContext(ctx, "statements in SQL may not read the readings of meters", "err", err)
	}
}
