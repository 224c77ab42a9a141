// Package settings contains the commands for administrators: configuration, people, tokens, MQTT devices and the audit log.
package settings
