// Package all lists the kinds of sources.
package all

import (
	"voltbus/source"
	"voltbus/source/amqp1"
	"voltbus/source/kafka"
	"voltbus/source/rabbitmq"
	"voltbus/source/setting"
)

// Kinds returns the kinds by the names that the configuration has for them.
func Kinds() map[string]source.Kind {
	return map[string]source.Kind{setting.Kafka: kafka.Open, setting.RabbitMQ: rabbitmq.Open, setting.AMQP1: amqp1.Open}
}
