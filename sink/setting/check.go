package setting

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Most is how many destinations there may be.
const Most = 32

// MaxBatch is the largest batch, and MaxFile that of a destination that keeps each as a file.
const (
	MaxBatch = 100_000
	MaxFile  = 5_000_000
)

// maxEvery is how long readings may wait: they are in memory meanwhile.
const maxEvery = time.Hour

const maxTags = 16

var (
	plainName   = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_-]{0,63}$`)
	tagName     = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_]{0,63}$`)
	placeholder = regexp.MustCompile(`\{(path|node|last|[1-9])\}`)
)

// parentName is no name of a destination.
const parentName = "parent"

// IsName reports whether a text can be the name of a destination.
func IsName(text string) bool { return plainName.MatchString(text) }

// reserved are the names of columns that each reading has; a tag called so would hide one.
var reserved = []string{"point", "time", "value", "exact", "text", "quality", "unit", "timestamp"} //nolint:gochecknoglobals // a table

// Validate reports what is wrong with the list.
func (l List) Validate(r func(key, format string, args ...any)) {
	if len(l) > Most {
		r("sinks", "lists %d; at most %d are possible", len(l), Most)
	}
	names := map[string]bool{}
	for i := range l {
		at := fmt.Sprintf("sinks[%d].", i)
		if names[l[i].Name] {
			r(at+"name", "%q is there already; give each destination a name of its own", l[i].Name)
		}
		names[l[i].Name] = true
		if l[i].Name == parentName {
			r(at+"name", "%q is how rules of the judge call the parent of this node; choose another name", parentName)
		}
		l[i].validate(func(key, format string, args ...any) { r(at+key, format, args...) })
	}
}

func (s *Sink) validate(r func(key, format string, args ...any)) {
	if !plainName.MatchString(s.Name) {
		r("name", "%q is not a name; write up to 64 letters, digits, - and _, such as cloud", s.Name)
	}
	s.validateAddress(r)
	most := MaxBatch
	if s.Kind == S3 {
		most = MaxFile
	}
	if s.Batch < 0 || s.Batch > most {
		r("batch", "%d is out of range; write 1 to %d", s.Batch, most)
	}
	if s.Every < 0 || s.Every > maxEvery {
		r("every", "%s is out of range; write up to %s, such as 5m", s.Every, maxEvery)
	}
	if _, err := time.Parse(time.DateOnly, s.From); err != nil && s.From != "" {
		r("from", "%q is not a day; write one such as 2026-01-01", s.From)
	}
	checkText(r, "names", s.Names)
	if len(s.Tags) > maxTags {
		r("tags", "are %d; at most %d are possible", len(s.Tags), maxTags)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Tags)) {
		if !tagName.MatchString(name) || slices.Contains(reserved, name) {
			r("tags", "%q is not a name for a tag; write letters, digits and _, and none of %s", name, strings.Join(reserved, ", "))
		}
		checkText(r, "tags", s.Tags[name])
	}
	for _, from := range slices.Sorted(maps.Keys(s.Units)) {
		if _, _, ok := Conversion(from, s.Units[from]); !ok {
			r("units", "%s cannot be converted to %q; %s", from, s.Units[from], unitAdvice(from))
		}
	}
}

func unitAdvice(from string) string {
	if list := convertible(from); len(list) > 0 {
		return "write one of " + strings.Join(list, ", ")
	}
	return fmt.Sprintf("no conversion of %s is known: remove it", from)
}

// checkText reports a placeholder that does not exist.
func checkText(r func(key, format string, args ...any), key, text string) {
	if strings.ContainsAny(placeholder.ReplaceAllString(text, ""), "{}") {
		r(key, "%q has a placeholder that does not exist; write {path}, {node}, {1} to {9} or {last}", text)
	}
}

// The kinds of destinations.
const (
	AMQP1         = "amqp1"
	ClickHouse    = "clickhouse"
	Elasticsearch = "elasticsearch"
	InfluxDB      = "influxdb"
	Kafka         = "kafka"
	MongoDB       = "mongodb"
	MySQL         = "mysql"
	OpenTelemetry = "opentelemetry"
	Prometheus    = "prometheus"
	RabbitMQ      = "rabbitmq"
	S3            = "s3"
	SQLite        = "sqlite"
)

// schemes are those of each kind's addresses: in clear text, and over TLS.
var schemes = map[string][2]string{ //nolint:gochecknoglobals // a table
	AMQP1: {"amqp", "amqps"}, ClickHouse: {"http", "https"}, Elasticsearch: {"http", "https"}, InfluxDB: {"http", "https"}, Kafka: {"kafka", "kafkas"},
	MongoDB: {"mongodb", "mongodbs"}, MySQL: {"mysql", "mysqls"}, OpenTelemetry: {"http", "https"}, Prometheus: {"http", "https"}, RabbitMQ: {"amqp", "amqps"}, S3: {"http", "https"},
}

func (s *Sink) validateAddress(r func(key, format string, args ...any)) {
	if s.Kind == SQLite {
		if s.URL != "" {
			r("url", "is not read for a file; write its name as into, and remove url")
		}
		return
	}
	names, known := schemes[s.Kind]
	if !known {
		if s.Kind == "" {
			r("kind", "is missing; write one of %s", strings.Join(Kinds(), ", "))
		}
		return
	}
	scheme, rest, _ := strings.Cut(s.URL, "://")
	one := s.URL
	if s.Kind == Kafka || s.Kind == MongoDB { // several addresses
		one, _, _ = strings.Cut(s.URL, ",")
	}
	u, err := url.Parse(one)
	switch {
	case err != nil || u.Host == "" || (scheme != names[0] && scheme != names[1]):
		r("url", "%q is not an address for %s; write one such as %s://host.example:port", s.URL, s.Kind, names[1])
		return
	case u.User != nil || strings.Contains(rest, "@"):
		r("url", "has a user or a password in it; write them as user and password_file")
	}
	if (s.Certificate == "") != (s.Key == "") {
		r("certificate", "and key belong together; write both, or remove both")
	}
	if scheme == names[0] && (s.CA != "" || s.Certificate != "") {
		r("url", "begins with %s, but there is a certificate; write %s, or remove ca, certificate and key", names[0], names[1])
	}
}

// Kinds returns the kinds of destinations, sorted.
func Kinds() []string { return append(slices.Sorted(maps.Keys(schemes)), SQLite) }
