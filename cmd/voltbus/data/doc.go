// Package data contains the commands that show points, devices, history, logs, alerts and health, and that import and export samples.
package data
