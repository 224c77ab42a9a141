// Package all lists the kinds of destinations.
package all

import (
	"voltbus/sink/amqp1"
	"voltbus/sink/clickhouse"
	"voltbus/sink/destination"
	"voltbus/sink/elasticsearch"
	"voltbus/sink/influxdb"
	"voltbus/sink/kafka"
	"voltbus/sink/mongodb"
	"voltbus/sink/opentelemetry"
	"voltbus/sink/prometheus"
	"voltbus/sink/rabbitmq"
	"voltbus/sink/s3"
	"voltbus/sink/setting"
	"voltbus/sink/table"
)

// Kinds returns the kinds by the names that the configuration has for them.
func Kinds() map[string]destination.Kind {
	return map[string]destination.Kind{
		setting.AMQP1: amqp1.Kind(), setting.ClickHouse: clickhouse.Kind(), setting.Elasticsearch: elasticsearch.Kind(), setting.InfluxDB: influxdb.Kind(), setting.Kafka: kafka.Kind(),
		setting.MongoDB: mongodb.Kind(), setting.MySQL: table.MySQL(), setting.OpenTelemetry: opentelemetry.Kind(), setting.Prometheus: prometheus.Kind(), setting.RabbitMQ: rabbitmq.Kind(),
		setting.S3: s3.Kind(), setting.SQLite: table.SQLite(),
	}
}
