// Package settings has the commands for what an administrator sets: configuration, people, tokens, MQTT devices and the audit log.
package settings
