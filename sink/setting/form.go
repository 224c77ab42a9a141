package setting

import "slices"

// Form says what an entry of a kind is asked for, in the order in which people are asked.
type Form struct {
	Kind    string
	Title   string   // what people call the kind
	Address string   // an example of url; "" if the kind has none
	Into    string   // what into names
	Fields  []string // the keys that the kind reads, beside name and kind
}

// described is what forms say of each kind beyond the tables that check entries.
var described = map[string][3]string{ //nolint:gochecknoglobals // a table
	ClickHouse:    {"ClickHouse", "https://clickhouse.example:8443", "Table"},
	Elasticsearch: {"Elasticsearch, OpenSearch", "https://search.example:9200", "Index"},
	InfluxDB:      {"InfluxDB", "https://influx.example:8086?org=plant", "Bucket or database"},
	Kafka:         {"Kafka", "kafkas://kafka-1.example:9093,kafka-2.example:9093", "Topic"},
	MySQL:         {"MySQL, MariaDB", "mysqls://sql.example:3306/plant", "Table"},
	OpenTelemetry: {"OpenTelemetry", "https://collector.example:4318", "Service"},
	Prometheus:    {"Prometheus remote write", "https://metrics.example:8428/api/v1/write", "Metric"},
	RabbitMQ:      {"RabbitMQ, AMQP 0-9-1", "amqps://rabbit.example:5671/plant", "Queue"},
	S3:            {"S3 object store", "https://s3.example", "Bucket"},
	SQLite:        {"SQLite file", "", "File"},
}

// The keys of entries, in the order of a form.
var (
	ofNetwork = []string{"url", "user", "password_file", "ca", "certificate", "key"}            //nolint:gochecknoglobals // a table
	ofAll     = []string{"into", "points", "except", "names", "tags", "units", "batch", "from"} //nolint:gochecknoglobals // a table
)

// Forms returns the form of each kind, sorted by kind.
func Forms() []Form {
	kinds := Kinds()
	slices.Sort(kinds)
	list := make([]Form, len(kinds))
	for i, kind := range kinds {
		f := Form{Kind: kind, Title: kind, Into: "Into", Fields: slices.Clone(ofAll)}
		if names, network := schemes[kind]; network {
			f.Address, f.Fields = names[1]+"://host.example", slices.Concat(ofNetwork, ofAll)
		}
		if d, known := described[kind]; known {
			f.Title, f.Address, f.Into = d[0], d[1], d[2]
		}
		if kind == S3 {
			f.Fields = append(f.Fields, "every")
		}
		list[i] = f
	}
	return list
}
