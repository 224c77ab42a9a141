package postgres

import "voltbus/store/postgres/connection"

// fail adds to an error its kind and, if a person must act, what to do. A nil error stays nil.
func (s *server) fail(op string, err error) error { return s.settings.Fail(op, s.config, err) }

// place names the database without any secret.
func (s *server) place() string { return connection.Place(s.config) }
