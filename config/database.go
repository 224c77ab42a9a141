package config

import (
	metersetting "voltbus/meter/setting"
	database "voltbus/store/postgres/setting"
)

// enginePostgres is the engine that stores its data in a database server.
const enginePostgres = "postgres"

// validateDatabase checks the settings of the engine postgres.
func (n *Store) validateDatabase(r report) {
	if n.Engine != enginePostgres {
		if n.URL != "" {
			r("store.url", `only the engine postgres has a database; remove the address, or write "engine: postgres"`)
		}
		return
	}
	d := database.Database{URL: n.URL, Schema: n.Schema, TLS: n.TLS}
	d.Validate("store", func(key, format string, args ...any) { r("store."+key, format, args...) })
}

// files returns the files named in the section.
func (n *Store) files() []namedFile {
	if n.Engine != enginePostgres {
		return nil
	}
	return databaseFiles("store.", &n.PasswordFile, &n.TLS)
}

func databaseFiles(section string, password *string, t *database.TLS) []namedFile {
	return []namedFile{
		{section + "password_file", password, true},
		{section + "tls.ca", &t.CA, false},
		{section + "tls.certificate", &t.Certificate, false},
		{section + "tls.key", &t.Key, true},
	}
}

// checkMeterStore checks where a metering data system stores its readings.
func checkMeterStore(r report, cfg *Config) {
	m := &cfg.Metering.Store
	switch {
	case m.Engine != enginePostgres:
		if m.URL != "" {
			r("metering.store.url", `only the engine postgres has a database; remove the address, or write "engine: postgres"`)
		}
		return
	case !cfg.Metering.Enabled():
		r("metering.store.engine", `is for a metering data system, and the role is %s; write "role: mds", or remove the store`, cfg.Metering.Role)
		return
	case m.URL == "" && cfg.Store.Engine != enginePostgres:
		r("metering.store.url", `is missing; write the database's address, such as postgres://voltbus@db.example.org/voltbus; it may be left out only where store.engine is postgres`)
		return
	}
	d := cfg.MeterStore()
	where := database.Database{URL: d.URL, Schema: d.Schema, TLS: d.TLS}
	if m.URL == "" { // the URL of the history is checked there
		where.URL, where.TLS = "postgres://localhost/voltbus", database.TLS{}
	}
	where.Validate("metering.store", func(key, format string, args ...any) { r("metering.store."+key, format, args...) })
}

// MeterStore returns where a metering data system stores its readings. Omitted database settings are those of the history.
func (c *Config) MeterStore() metersetting.Store {
	m := c.Metering.Store
	if m.URL == "" && c.Store.Engine == enginePostgres {
		m.URL, m.PasswordFile, m.TLS = c.Store.URL, c.Store.PasswordFile, c.Store.TLS
		if m.Schema == "" {
			m.Schema = c.Store.Schema
		}
	}
	if m.Schema == "" {
		m.Schema = "voltbus"
	}
	return m
}
