// Package data has the commands that show points, devices, history, logs, alerts and health, and import and export samples.
package data
