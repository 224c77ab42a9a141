package peers

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

const installVictoria = "on Debian: apt-get install victoria-metrics"

// victoriaMetrics is VictoriaMetrics: it answers before anything is on the disk.
func victoriaMetrics() Store {
	return Store{
		Name: "VictoriaMetrics", Promise: "It answers before the readings are on the disk; a power cut loses the last seconds.",
		Find: func() error { _, err := find("victoria-metrics", installVictoria); return err },
		Open: openVictoria,
	}
}

type victoria struct {
	server *server
	web    web
}

func openVictoria(ctx context.Context, dir string) (Intake, error) {
	program, err := find("victoria-metrics", installVictoria)
	if err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program, "-httpListenAddr="+loopback(port), //nolint:noctx // stop ends it
		"-storageDataPath="+filepath.Join(dir, "data"), "-retentionPeriod=100y", "-loggerLevel=ERROR",
		"-search.maxUniqueTimeseries=10000000", "-search.maxSamplesPerQuery=10000000000", "-search.maxQueryDuration=2m")
	srv, err := start(ctx, cmd, loopback(port))
	if err != nil {
		return nil, err
	}
	return &victoria{srv, newWeb(loopback(port))}, nil
}

// Write implements Intake.
func (v *victoria) Write(ctx context.Context, b *Batch) error {
	_, err := v.web.ask(ctx, "POST", "/write?precision=ns", b.Lines)
	return err
}

// Count implements Intake.
func (v *victoria) Count(ctx context.Context) (uint64, error) {
	if _, err := v.web.ask(ctx, "GET", "/internal/force_flush", nil); err != nil {
		return 0, err
	}
	const question = `sum(count_over_time({__name__!=""}[10y]))` // of 100 years the beginning lies before 1970
	text, err := v.web.ask(ctx, "GET", "/api/v1/query?nocache=1&query="+url.QueryEscape(question), nil)
	if err != nil {
		return 0, err
	}
	var told struct {
		Data struct {
			Result []struct{ Value [2]any }
		}
	}
	if err := json.Unmarshal(text, &told); err != nil {
		return 0, fmt.Errorf("read the store's answer: %w", err)
	}
	if len(told.Data.Result) == 0 {
		return 0, errNoCount
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(fmt.Sprint(told.Data.Result[0].Value[1])), 64)
	return uint64(n), err
}

// Process implements Intake.
func (v *victoria) Process() int { return v.server.process() }

// Close implements Intake.
func (v *victoria) Close() error {
	v.web.close()
	return v.server.stop()
}
