package table

import (
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"

	"voltbus/fault"
	"voltbus/sink/destination"
	"voltbus/sink/endpoint"
	"voltbus/sink/setting"
)

// MySQL is the kind of a table in MySQL or MariaDB. The address is mysql://host:port/database, or mysqls:// for TLS.
func MySQL() destination.Kind { return destination.Kind{Make: openMySQL, Batch: 2000, Parallel: 2} } //nolint:mnd // some 300 kB

const mysqlPort = "3306"

func openMySQL(s *setting.Sink, _ destination.Environment) (destination.Writer, error) {
	if err := checkName(s, s.Into); err != nil {
		return nil, err
	}
	u, err := url.Parse(s.URL)
	database := ""
	if err == nil {
		database = strings.Trim(u.Path, "/")
	}
	if database == "" {
		return nil, fault.E("sinks.Open", fault.Invalid, s.URL, errors.New("the address has no database; write mysql://host:port/database"))
	}
	secure, err := endpoint.TLS(s)
	if err != nil {
		return nil, err
	}
	c := mysql.NewConfig()
	c.User, c.Net, c.DBName, c.Addr = s.User, "tcp", database, u.Host
	if u.Port() == "" {
		c.Addr = net.JoinHostPort(u.Hostname(), mysqlPort)
	}
	c.InterpolateParams, c.Logger = true, &mysql.NopLogger{}
	if u.Scheme == "mysqls" {
		secure.ServerName = u.Hostname()
		c.TLS = secure
	}
	return &writer{open: func() (*sql.DB, error) { return connect(s, c) }, table: s.Into, tags: tagsOf(s), subject: s.URL, dialect: mysqlDialect(s)}, nil
}

func connect(s *setting.Sink, c *mysql.Config) (*sql.DB, error) {
	password, err := endpoint.Password(s)
	if err != nil {
		return nil, err
	}
	c = c.Clone()
	c.Passwd = password
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxIdleConns(2) //nolint:mnd // as many as requests at a time
	return db, nil
}

func mysqlDialect(s *setting.Sink) *dialect {
	return &dialect{
		quote: "`",
		create: `CREATE TABLE IF NOT EXISTS %s (point VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL, time DATETIME(6) NOT NULL, value DOUBLE, exact BIGINT, text TEXT CHARACTER SET utf8mb4,
quality VARCHAR(32) NOT NULL, unit VARCHAR(32) CHARACTER SET utf8mb4 NOT NULL, PRIMARY KEY (point, time))`,
		column: "VARCHAR(255) CHARACTER SET utf8mb4 NOT NULL DEFAULT ''", many: 500, //nolint:mnd // rows of a statement
		columns: "SELECT column_name FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = ?",
		replace: func(columns []string) string {
			return " ON DUPLICATE KEY UPDATE " + assignments(columns, "%s=VALUES(%s)")
		},
		judge: judgeMySQL,
		plain: func(err error) error { return plainMySQL(s, err) },
	}
}

// The errors of MySQL that concern the values of a row (MySQL error reference, ER_…).
var aboutValues = []uint16{1048, 1264, 1292, 1366, 1406, 1411, 3140, 4025} //nolint:gochecknoglobals // a table

func judgeMySQL(err error) string {
	var e *mysql.MySQLError
	if errors.As(err, &e) && slices.Contains(aboutValues, e.Number) {
		return e.Message
	}
	return ""
}

// The errors of MySQL that people can mend.
const (
	erDatabaseAccess = 1044
	erAccess         = 1045
	erNoDatabase     = 1049
	erTableAccess    = 1142
)

func plainMySQL(s *setting.Sink, err error) error {
	var e *mysql.MySQLError
	if !errors.As(err, &e) {
		return endpoint.Plain(err)
	}
	switch e.Number {
	case erAccess:
		return fmt.Errorf("it does not accept the user %q or the password; look at user and password_file", s.User)
	case erDatabaseAccess, erTableAccess:
		return fmt.Errorf("the user %q may not do this: %s; grant it CREATE, ALTER, SELECT, INSERT and UPDATE", s.User, e.Message)
	case erNoDatabase:
		return fmt.Errorf("%s; make it, or write another one in url", e.Message)
	}
	return err
}
