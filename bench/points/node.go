package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"strconv"
	"strings"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/config"
	"voltbus/driver/all"
	"voltbus/identity"
	"voltbus/internal/memory"
	"voltbus/node"
)

const site = "node: {name: bench, data: data}\nlisten: {http: 127.0.0.1:0, bus: off}\nlog: {max_bytes: 8GiB}\ningest: {points: 50000000}\n"

// process is a node in a process of its own.
type process struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	out    *json.Decoder // what the process answers
	url    string
	token  string
	client *client.Client
}

// announcement is what the node's process says when it answers.
type announcement struct{ URL, Token string }

// start starts a node with its data in the directory, and returns when it answers.
func (b *bench) start(ctx context.Context, dir, name string) (*process, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &process{cmd: exec.CommandContext(ctx, program, "-serve", dir)}
	if b.profile != "" {
		p.cmd.Args = append(p.cmd.Args, "-cpuprofile", filepath.Join(b.profile, name))
	}
	p.cmd.Stderr = os.Stderr
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	p.out = json.NewDecoder(bufio.NewReader(stdout))
	var a announcement
	if err := p.out.Decode(&a); err != nil {
		return nil, errors.Join(fmt.Errorf("the node does not start: %w", err), p.stop())
	}
	p.url, p.token = a.URL, a.Token
	if p.client, err = client.New(p.url, p.token, nil); err != nil {
		return nil, errors.Join(err, p.stop())
	}
	if _, err := p.client.Points(ctx, client.Filter{Limit: 1}); err != nil {
		return nil, errors.Join(err, p.stop())
	}
	return p, nil
}

func (p *process) stop() error { return errors.Join(p.stdin.Close(), p.cmd.Wait()) }

// memory returns bytes as the kernel counts them.
func (p *process) memory(what string) int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if rest, found := strings.CutPrefix(line, what); found {
			kB, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			return kB << 10
		}
	}
	return 0
}

// beNode is the node until the input ends.
func beNode(dir, profile string) (err error) {
	memory.Tune()
	stopProfile, err := profileTo(profile)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stopProfile()) }()
	file := filepath.Join(dir, "voltbus.yaml")
	if err := os.WriteFile(file, []byte(site), 0o600); err != nil {
		return err
	}
	cfg, err := config.Load(file, all.Kinds())
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	n, err := node.Open(ctx, node.Options{Config: cfg, Kinds: all.Kinds(), Log: log, Version: answer.Version{Version: "bench"}})
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx) }()
	token, err := identity.ReadToken(filepath.Join(dir, "data", identity.AdminTokenFile))
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(announcement{n.HTTPAddr(), token})
	}
	if err == nil {
		err = tellMemory(profile)
	}
	stop()
	return errors.Join(err, <-done)
}

// profileTo writes profiles until it is stopped.
func profileTo(name string) (stop func() error, err error) {
	if name == "" {
		return func() error { return nil }, nil
	}
	f, err := os.Create(name + ".cpu")
	if err != nil {
		return nil, err
	}
	return func() error {
		pprof.StopCPUProfile()
		return f.Close()
	}, pprof.StartCPUProfile(f)
}
