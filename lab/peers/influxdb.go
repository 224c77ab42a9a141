package peers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
)

const installInflux = "on Debian: apt-get install influxdb"

// influxDB is InfluxDB 1: it flushes its write-ahead log to the disk before each answer.
func influxDB() Store {
	return Store{
		Name: "InfluxDB", Promise: "It answers after its write-ahead log was flushed to the disk.",
		Find: func() error { _, err := find("influxd", installInflux); return err },
		Open: openInflux,
	}
}

type influx struct {
	server *server
	web    web
}

func openInflux(ctx context.Context, dir string) (Intake, error) {
	program, err := find("influxd", installInflux)
	if err != nil {
		return nil, err
	}
	var ports [2]int
	for i := range ports {
		if ports[i], err = freePort(); err != nil {
			return nil, err
		}
	}
	file := filepath.Join(dir, "influxdb.conf")
	text := fmt.Sprintf(`reporting-disabled = true
bind-address = %q
[meta]
  dir = %q
[data]
  dir = %q
  wal-dir = %q
  wal-fsync-delay = "0s"
  max-series-per-database = 0
  cache-max-memory-size = "4g"
[monitor]
  store-enabled = false
[http]
  bind-address = %q
  log-enabled = false
  max-body-size = 0
[logging]
  level = "error"
`, loopback(ports[0]), dir+"/meta", dir+"/data", dir+"/wal", loopback(ports[1]))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, fmt.Errorf("write the store's configuration: %w", err)
	}
	srv, err := start(ctx, exec.Command(program, "-config", file), loopback(ports[1])) //nolint:noctx // stop ends it
	if err != nil {
		return nil, err
	}
	in := &influx{srv, newWeb(loopback(ports[1]))}
	if _, err := in.web.ask(ctx, "POST", "/query?q="+url.QueryEscape("CREATE DATABASE lab"), nil); err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return in, nil
}

// Write implements Intake.
func (i *influx) Write(ctx context.Context, b *Batch) error {
	_, err := i.web.ask(ctx, "POST", "/write?db=lab&precision=ns", b.Lines)
	return err
}

// Count implements Intake.
func (i *influx) Count(ctx context.Context) (uint64, error) {
	return i.of(ctx, "SELECT count(*) FROM /.*/")
}

// of adds the numbers of the answer to a question.
func (i *influx) of(ctx context.Context, question string) (uint64, error) {
	text, err := i.web.ask(ctx, "GET", "/query?db=lab&q="+url.QueryEscape(question), nil)
	if err != nil {
		return 0, err
	}
	var told struct {
		Results []struct {
			Series []struct{ Values [][]any }
		}
	}
	if err := json.Unmarshal(text, &told); err != nil {
		return 0, fmt.Errorf("read the store's answer: %w", err)
	}
	if len(told.Results) == 0 {
		return 0, errNoCount
	}
	sum := 0.0
	for _, series := range told.Results[0].Series {
		for _, row := range series.Values {
			for _, cell := range row[1:] { // the first is the time
				n, _ := cell.(float64) // a field without values is null
				sum += n
			}
		}
	}
	return uint64(sum), nil
}

// Process implements Intake.
func (i *influx) Process() int { return i.server.process() }

// Close implements Intake.
func (i *influx) Close() error {
	i.web.close()
	return i.server.stop()
}
