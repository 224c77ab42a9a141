//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// nodeConfig is that of a node whose broker records one point of each topic.
const nodeConfig = `
node: {name: bench, data: data}
listen: {http: off, bus: off, mqtt: 127.0.0.1:0}
log: {max_bytes: 8GiB}
mqtt:
  anonymous: true
  clients: 15000
  connects: 100000
  templates:
    - {name: state, topic: "devices/{device}/state", device: "fleet/{device}", format: json, points: [{name: temperature, unit: degC}]}
`

// body is a message of 200 bytes of JSON.
func body() []byte {
	text := `{"temperature":21.5,"pad":"`
	b := append([]byte(text), make([]byte, 200-len(text)-2)...)
	for i := len(text); i < len(b); i++ {
		b[i] = 'x'
	}
	return append(b, `"}`...)
}

// measureNode runs a node of a program and measures its broker. What it publishes is recorded.
func measureNode(ctx context.Context, program string, load *work) error {
	dir, err := os.MkdirTemp("", "mqtt-node-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	file := filepath.Join(dir, "voltbus.yaml")
	if err := os.WriteFile(file, []byte(nodeConfig), 0o600); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, program, "run", "--config", file, "--log-level", "warn")
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	defer func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	}()
	addr, err := addressOf(ctx, filepath.Join(dir, "data", "node.json"))
	if err != nil {
		return err
	}
	load.rest = 15 * time.Second // a node returns its free memory when it is at rest
	return load.measure(ctx, "node", addr, cmd.Process.Pid)
}

// addressOf waits until a node says where MQTT clients find it.
func addressOf(ctx context.Context, file string) (string, error) {
	for {
		var a struct {
			MQTT string `json:"mqtt"`
		}
		text, err := os.ReadFile(file)
		if err == nil && json.Unmarshal(text, &a) == nil {
			if a.MQTT == "" {
				return "", errors.New("the node listens for no MQTT clients")
			}
			return a.MQTT, nil
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("wait for the node: %w", ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}
