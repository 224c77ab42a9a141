package config

import (
	"net/url"
	"regexp"
)

// schemaName is what PostgreSQL takes as a name without quotes.
var schemaName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}$`)

// validateDatabase checks what belongs to the engine postgres.
func (n *Store) validateDatabase(r report) {
	if n.Engine != "postgres" {
		if n.URL != "" {
			r("store.url", `only the engine postgres has a database; remove the address, or write "engine: postgres"`)
		}
		return
	}
	if text := badDatabase(n.URL); text != "" {
		r("store.url", "%s", text)
	}
	if !schemaName.MatchString(n.Schema) {
		r("store.schema", "%q is not the name of a schema; write up to 63 small letters, digits and _, such as voltbus", n.Schema)
	}
	if n.TLS.Mode == "off" && (n.TLS.CA != "" || n.TLS.Certificate != "") {
		r("store.tls.mode", `"off" uses no certificates; write verify, or remove the files`)
	}
	if (n.TLS.Certificate == "") != (n.TLS.Key == "") {
		r("store.tls.certificate", "a certificate needs its key, and a key its certificate; write both, or none")
	}
}

// badDatabase says why text cannot be the address of a database, or "". It repeats nothing of it,
// since that may be a secret.
func badDatabase(text string) string {
	const example = "such as postgres://voltbus@db.example.org/voltbus"
	u, err := url.Parse(text)
	switch {
	case text == "":
		return "is missing; write the database's address, " + example
	case err != nil || (u.Scheme != "postgres" && u.Scheme != "postgresql"):
		return "is not the address of a database; write one " + example
	}
	if _, set := u.User.Password(); set || u.Query().Has("password") {
		return "holds a password, which everybody who sees the settings could read; write it into a file, and the file's name to store.password_file"
	}
	for key := range u.Query() {
		if key != "host" {
			return "has something behind ? that is not known; only host=/directory-of-the-socket may stand there"
		}
	}
	if len(u.Path) < 2 {
		return "names no database; write one behind the server, " + example
	}
	return ""
}

// files returns the files that the section names.
func (n *Store) files() []namedFile {
	if n.Engine != "postgres" {
		return nil
	}
	return []namedFile{
		{"store.password_file", &n.PasswordFile, true},
		{"store.tls.ca", &n.TLS.CA, false},
		{"store.tls.certificate", &n.TLS.Certificate, false},
		{"store.tls.key", &n.TLS.Key, true},
	}
}
