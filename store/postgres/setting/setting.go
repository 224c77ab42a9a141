// Package setting defines the configuration of a PostgreSQL database, for each section that has one.
package setting

import (
	"net/url"
	"regexp"
)

// TLS is the section "tls" of a database.
type TLS struct {
	// Mode is verify for a connection that is encrypted to a server whose certificate is checked,
	// except to one on this machine, or off.
	Mode string `yaml:"mode" enum:"verify,off"`
	// CA is a file with the authorities that the server's certificate may come from, relative to
	// this file. The system's if left out.
	CA string `yaml:"ca" example:"secrets/database-ca.pem"`
	// Certificate is a file with the certificate that this node shows, if the server wants one.
	Certificate string `yaml:"certificate" example:"secrets/node.pem"`
	// Key is the file with the key of that certificate.
	Key string `yaml:"key" example:"secrets/node.key"`
}

// schemaName matches names that PostgreSQL accepts without quotes.
var schemaName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}$`)

// Database is the location of tables.
type Database struct {
	URL, Schema string
	TLS         TLS
}

// Report reports a problem with a key of the section, such as "url".
type Report func(key, format string, args ...any)

// Validate reports all problems, in a section with a name such as "store".
func (d *Database) Validate(section string, r Report) {
	if text := badAddress(d.URL, section); text != "" {
		r("url", "%s", text)
	}
	if !schemaName.MatchString(d.Schema) {
		r("schema", "%q is not the name of a schema; write up to 63 small letters, digits and _, such as voltbus", d.Schema)
	}
	if d.TLS.Mode == "off" && (d.TLS.CA != "" || d.TLS.Certificate != "") {
		r("tls.mode", `"off" uses no certificates; write verify, or remove the files`)
	}
	if (d.TLS.Certificate == "") != (d.TLS.Key == "") {
		r("tls.certificate", "a certificate needs its key, and a key its certificate; write both, or none")
	}
}

// badAddress returns why text cannot be the address of a database, or "". It repeats nothing of the text,
// which may contain a secret.
func badAddress(text, section string) string {
	const example = "such as postgres://voltbus@db.example.org/voltbus"
	u, err := url.Parse(text)
	switch {
	case text == "":
		return "is missing; write the database's address, " + example
	case err != nil || (u.Scheme != "postgres" && u.Scheme != "postgresql"):
		return "is not the address of a database; write one " + example
	}
	if _, set := u.User.Password(); set || u.Query().Has("password") {
		return "holds a password, which everybody who sees the settings could read; write it into a file, and the file's name to " + section + ".password_file"
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
